package dev.gpuwarden.cli.web;

import java.util.Optional;

/**
 * A handler for the users of `basic_auth_users`. If the inner handler has a guard of its own, requests without a
 * known user name go to that guard, with or without another credential.
 */
record LoginHandler(HttpHandler handler, BasicAuth users) implements HttpHandler.Wrapper {

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        if (!users.asksForNames()) {
            return handler.answer(request);
        }
        Optional<Request.Login> login = request.login().filter(users::has);
        if (login.isEmpty()) {
            // Names are no secret, and a password check for each unknown name would cost a tenth of a second.
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
}
