package dev.gpuwarden.cli.web;

import java.util.Optional;

/**
 * A site for the users of `basic_auth_users`. A site with a guard of its own also answers who shows that guard another proof, and a
 * request without any, which the guard judges.
 */
record LoginSite(Site site, BasicAuth users) implements Site {

    @Override
    public boolean has(String path) {
        return site.has(path);
    }

    @Override
    public Answer answer(Request request) throws InterruptedException {
        if (!users.asksForNames()) {
            return site.answer(request);
        }
        Optional<Request.Login> login = request.login().filter(users::has);
        if (login.isEmpty()) {
            // Which names there are is no secret; a password of each stranger's name would cost a tenth of a second.
            return site.isGuarded() ? site.answer(request) : unknown();
        }
        return switch (users.check(login.get())) {
            case KNOWN -> site.answer(request.proven());
            case WRONG -> unknown();
            case NOT_NOW ->
                Answer.text(503, "another password is being checked; try again\n")
                        .with("Retry-After", "1");
        };
    }

    private static Answer unknown() {
        return Answer.text(401, "expected a name and its password, of basic_auth_users in --web.config.file\n")
                .with("WWW-Authenticate", "Basic realm=\"gpuwarden\", charset=\"UTF-8\"");
    }

    @Override
    public int threads() {
        return site.threads();
    }

    @Override
    public boolean isGuarded() {
        return site.isGuarded();
    }
}
