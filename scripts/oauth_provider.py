"""Run by scripts/oauth-provider: a provider made of Authlib and Flask, on a free port that is written to the file named.

/authorize, /token and /revoke are Authlib's. /films wants a token; /expire ends all access tokens; /counts says how often
the token endpoint was asked, by grant, and how often films were served, by token.
"""
import os
import sys
import threading
import time
from collections import Counter

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Flask, jsonify, request
from werkzeug.serving import make_server

USER, PASSWORD = "anna", "geheim"
lock = threading.Lock()
codes, tokens = {}, []
asked, served = Counter(), Counter()


class Client(ClientMixin):
    def __init__(self, name, secret, methods, grant_types):
        self.name, self.secret, self.methods, self.grant_types = name, secret, methods, grant_types

    def get_client_id(self):
        return self.name

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(word for word in (scope or "").split() if word in ("films", "profile"))

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == "films://login/done"

    def check_client_secret(self, secret):
        return self.secret == secret

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type in self.grant_types


CLIENTS = {
    "films-app": Client("films-app", None, ["none"], ["authorization_code", "refresh_token"]),
    "films-service": Client(
        "films-service", "s3:c/r%e~t", ["client_secret_basic", "client_secret_post"], ["client_credentials"]),
}


class Code(AuthorizationCodeMixin):
    def __init__(self, code, payload, client):
        self.code, self.client = code, client
        self.redirect_uri, self.scope = payload.redirect_uri, payload.scope
        self.code_challenge = payload.data.get("code_challenge")
        self.code_challenge_method = payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Token(TokenMixin):
    def __init__(self, values, client, user):
        self.values, self.client, self.user = values, client, user
        self.ends = time.time() + values.get("expires_in", 3600)
        self.is_access_revoked = self.is_refresh_revoked = False

    def check_client(self, client):
        return self.client is client

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values.get("expires_in", 3600)

    def is_expired(self):
        return time.time() >= self.ends

    def is_revoked(self):
        return self.is_access_revoked

    def get_user(self):
        return self.user

    def get_client(self):
        return self.client


def find(name, value):
    with lock:
        return next((token for token in tokens if token.values.get(name) == value), None)


def save_token(values, asking):
    with lock:
        tokens.append(Token(values, asking.client, asking.user))


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def save_authorization_code(self, code, asking):
        codes[code] = Code(code, asking.payload, asking.client)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client is client else None

    def delete_authorization_code(self, code):
        codes.pop(code.code, None)

    def authenticate_user(self, code):
        return USER


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = find("refresh_token", refresh_token)
        return token if token and not token.is_refresh_revoked else None

    def authenticate_user(self, token):
        return token.user

    def revoke_old_credential(self, token):
        token.is_access_revoked = token.is_refresh_revoked = True


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "client_secret_basic"]

    def query_token(self, text, hint):
        return find("access_token", text) or find("refresh_token", text)

    def revoke_token(self, token, asking):
        token.is_access_revoked = True
        if asking.form.get("token_type_hint") != "access_token":
            token.is_refresh_revoked = True


class Validator(BearerTokenValidator):
    def authenticate_token(self, text):
        return find("access_token", text)


app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server = AuthorizationServer(app, query_client=CLIENTS.get, save_token=save_token)
server.register_grant(AuthorizationCodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshTokenGrant)
server.register_grant(ClientCredentialsGrant)
server.register_endpoint(Revocation)
protected = ResourceProtector()
protected.register_token_validator(Validator())


@app.route("/authorize", methods=["GET", "POST"])
def authorize():
    try:
        grant = server.get_consent_grant(end_user=USER)
    except OAuth2Error as error:
        return dict(error.get_body()), 400
    if request.method == "GET":
        return "<form method=post><input name=user><input name=password type=password></form>"
    right = request.form.get("user") == USER and request.form.get("password") == PASSWORD
    return server.create_authorization_response(grant_user=USER if right else None, grant=grant)


@app.post("/token")
def issue_token():
    with lock:
        asked[request.form.get("grant_type", "none")] += 1
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response("revocation")


@app.get("/films")
@protected("films")
def films():
    with lock:
        served[request.headers["Authorization"].split()[1]] += 1
    return jsonify(films=["Metropolis", "M"])


@app.post("/expire")
def expire():
    with lock:
        for token in tokens:
            token.ends = 0
    return jsonify({})


@app.get("/counts")
def counts():
    with lock:
        return jsonify(asked=asked, served=sorted(served.values()))


listening = make_server("127.0.0.1", 0, app, threaded=True)
with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
    file.write(f"{listening.server_port}\n")
os.replace(sys.argv[1] + ".new", sys.argv[1])
listening.serve_forever()
