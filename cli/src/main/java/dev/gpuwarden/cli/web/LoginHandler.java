package dev.gpuwarden.cli.web;

import java.util.Optional;

/**
 * A handler for the users of `basic_auth_users`. A handler with a guard of its own also answers who shows that guard another proof, and a
 * request without any, which the guard judges.
 */
record LoginHandler(HttpHandler handler, BasicAuth users) implements HttpHandler {

    @Override
    public boolean has(String path) {
        return handler.has(path);
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        if (!users.asksForNames()) {
            return handler.answer(request);
        }
        Optional<Request.Login> login = request.login().filter(users::has);
        if (login.isEmpty()) {
            // Which names there are is no secret; a password of each stranger's name would cost a tenth of a second.
            return handler.isGuarded() ? handler.answer(request) : unknown();
        }
        return switch (users.check(login.get())) {
            case KNOWN -> handler.answer(request.proven());
            case WRONG -> unknown();
            case NOT_NOW ->
                HttpAnswer.text(503, "another password is being checked; try again\n")
                        .with("Retry-After", "1");
        };
    }

    private static HttpAnswer unknown() {
        return HttpAnswer.text(401, "expected a name and its password, of basic_auth_users in --web.config.file\n")
                .with("WWW-Authenticate", "Basic realm=\"gpuwarden\", charset=\"UTF-8\"");
    }

    @Override
    public int threads() {
        return handler.threads();
    }

    @Override
    public boolean isGuarded() {
        return handler.isGuarded();
    }
}
