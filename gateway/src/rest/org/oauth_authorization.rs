//! The page on which somebody lets an application act for them. They sign in on it, unless their browser has a session.

use std::net::IpAddr;

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use kernel::access::Anyone;
use org::{
    application::{
        authorization::{self, AuthorizationRefusal as Refusal, AuthorizationRequest, Consent},
        is_out_of_band,
    },
    token::{Scope, Secret, oauth as tokens},
    user::{self, User},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    oauth::{INCOMPLETE, INVALID_SCOPE, proven},
    own_forms, session_cookie,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::Custom,
    routes,
    web::html::{self, escaped},
};

routes! { "OAuth authorization" at "//oauth/authorize", any scope;
    GET  "" => ask    : Anyone,
    POST "" => answer : Anyone,
}

params! {
    struct AskForAuthorization {
        /// The application, as it calls itself.
        client_id: Option<String>,
        /// Where to send the person back to: exactly one of the URLs of the application.
        redirect_uri: Option<String>,
        /// `code`.
        response_type: Option<String>,
        /// Scopes, with spaces between. Default: `api`.
        scope: Option<String>,
        /// Sent back as it is, at most 2048 bytes.
        state: Option<String>,
        /// Challenge of RFC 7636, 43 to 128 characters. Applications without a secret have to send one.
        code_challenge: Option<String>,
        /// `plain` or `S256`. Default: `plain`.
        code_challenge_method: Option<String>,
        /// With the scope `openid`: returned in `id_token`, at most 2048 bytes.
        nonce: Option<String>,
    }
}

params! {
    struct AnswerAuthorization {
        /// The application, as it calls itself.
        client_id: Option<String>,
        /// Where to send the person back to: exactly one of the URLs of the application.
        redirect_uri: Option<String>,
        /// `code`.
        response_type: Option<String>,
        /// Scopes, with spaces between. Default: `api`.
        scope: Option<String>,
        /// Sent back as it is, at most 2048 bytes.
        state: Option<String>,
        /// Challenge of RFC 7636, 43 to 128 characters. Applications without a secret have to send one.
        code_challenge: Option<String>,
        /// `plain` or `S256`. Default: `plain`.
        code_challenge_method: Option<String>,
        /// With the scope `openid`: returned in `id_token`, at most 2048 bytes.
        nonce: Option<String>,
        /// `allow` or `deny`.
        decision: Option<String>,
        /// User name or email address.
        username: Option<String>,
        password: Option<String>,
    }
}

/// Bytes of what an application wants to have back.
const LONGEST_STATE: usize = 2_048;
const TITLE: &str = "Authorize an application";
const CODE_TITLE: &str = "Authorization code";
const CLIENT: &str = "Client authentication failed due to unknown client.";
const REDIRECT: &str = "The redirect URI included is not valid.";
const RESPONSE_TYPE: &str = "The authorization server does not support this response type.";
const DENIED: &str = "The resource owner or authorization server denied the request.";
const WRONG: &str =
    "Invalid login or password, or a password alone is not enough for this account.";
const OFTEN: &str = "There were too many attempts to sign in. Please try again later.";

/// An authorization request, with the `state` that is returned to the application.
struct ConsentRequest {
    request: AuthorizationRequest,
    state: Option<String>,
}

impl From<AskForAuthorization> for ConsentRequest {
    fn from(given: AskForAuthorization) -> Self {
        let request = AuthorizationRequest {
            response_type: given.response_type,
            client_id: given.client_id,
            redirect_uri: given.redirect_uri,
            scope: given.scope,
            code_challenge: given.code_challenge,
            code_challenge_method: given.code_challenge_method,
            nonce: given.nonce,
        };
        Self { request, state: given.state }
    }
}

impl ConsentRequest {
    /// What somebody is asked, or the answer where nobody is.
    async fn read(&self, app: &App) -> ApiResult<Result<Consent, HttpResponse>> {
        let is_long =
            |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > LONGEST_STATE);
        if is_long(&self.state) || is_long(&self.request.nonce) {
            return Ok(Err(refusal_page(INCOMPLETE)));
        }
        let request = self.request.clone();
        let read = app.db.peek(move |tx| authorization::read(tx, &request)).await?;
        Ok(read.map_err(|refusal| self.refused(refusal)))
    }

    /// Tells the application, or the person where the application is not known to be who asks.
    fn refused(&self, refusal: Refusal) -> HttpResponse {
        let (code, text) = match refusal {
            Refusal::Client => return refusal_page(CLIENT),
            Refusal::Redirect => return refusal_page(REDIRECT),
            Refusal::Request => ("invalid_request", INCOMPLETE),
            Refusal::ResponseType => ("unsupported_response_type", RESPONSE_TYPE),
            Refusal::Scope => ("invalid_scope", INVALID_SCOPE),
            Refusal::Denial => ("access_denied", DENIED),
        };
        if self.is_out_of_band() {
            return refusal_page(text);
        }
        self.back(&[("error", code), ("error_description", text)])
    }

    /// Whether the application cannot be sent anything, so that people carry the code there themselves.
    fn is_out_of_band(&self) -> bool {
        self.request.redirect_uri.as_deref().is_some_and(is_out_of_band)
    }

    /// Gives the application its code, or shows it to the person.
    fn granted(&self, code: &str) -> HttpResponse {
        if !self.is_out_of_band() {
            return self.back(&[("code", code)]);
        }
        let body = format!(
            "<p>Copy this code into the application that asked for it, and show it to nobody else. It is good for ten \
             minutes, once.</p><p><code>{}</code></p>",
            escaped(code)
        );
        html::page(StatusCode::OK, CODE_TITLE, &body)
    }

    /// Sends the person back to the application.
    fn back(&self, values: &[(&str, &str)]) -> HttpResponse {
        let mut address = self.request.redirect_uri.clone().unwrap_or_default();
        let state = self.state.as_deref().map(|state| ("state", state));
        for (name, value) in values.iter().copied().chain(state) {
            let joint = if address.contains('?') { '&' } else { '?' };
            let value = utf8_percent_encode(value, NON_ALPHANUMERIC);
            address.push_str(&format!("{joint}{name}={value}"));
        }
        HttpResponse::Found()
            .insert_header((header::LOCATION, address))
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .insert_header((header::REFERRER_POLICY, "no-referrer"))
            .finish()
    }

    fn form(
        &self,
        app: &App,
        consent: &Consent,
        (status, wrong): (StatusCode, &str),
        known: Option<&User>,
    ) -> HttpResponse {
        let request = &self.request;
        let hidden: String = [
            ("client_id", &request.client_id),
            ("redirect_uri", &request.redirect_uri),
            ("response_type", &request.response_type),
            ("scope", &request.scope),
            ("state", &self.state),
            ("code_challenge", &request.code_challenge),
            ("code_challenge_method", &request.code_challenge_method),
            ("nonce", &request.nonce),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .map(|(name, value)| {
            format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escaped(value))
        })
        .collect();
        let body = format!(
            "{}{}<form method=\"post\" action=\"{}\">{hidden}{}<button name=\"decision\" value=\"deny\" \
             formnovalidate>Deny</button></form>",
            alert(wrong),
            terms(consent),
            app.urls.at("oauth/authorize"),
            proof_fields(known),
        );
        let origin = match self.is_out_of_band() {
            true => String::new(),
            false => origin(&consent.redirect_uri),
        };
        html::page_leading_to(status, TITLE, &body, &origin)
    }
}

/// What somebody fills in to prove who they are: nothing, where they are signed in.
fn proof_fields(known: Option<&User>) -> String {
    match known {
        Some(user) => format!(
            "<p>You are signed in as {}.</p><button name=\"decision\" value=\"allow\">Authorize</button>",
            escaped(&user.username)
        ),
        None => "<label for=\"username\">User name or email</label><input id=\"username\" name=\"username\" \
                 autocomplete=\"username\" required><label for=\"password\">Password</label><input id=\"password\" \
                 name=\"password\" type=\"password\" autocomplete=\"current-password\" required><button \
                 name=\"decision\" value=\"allow\">Sign in and authorize</button>"
            .to_owned(),
    }
}

fn alert(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("<p role=\"alert\">{}</p>", escaped(text)),
    }
}

fn refusal_page(text: &str) -> HttpResponse {
    html::page(StatusCode::BAD_REQUEST, TITLE, &alert(text))
}

/// What the person agrees to.
fn terms(consent: &Consent) -> String {
    let name = escaped(&consent.application.name);
    let target = match is_out_of_band(&consent.redirect_uri) {
        true => "shown a code, to be copied into the application".to_owned(),
        false => format!("sent to {}", escaped(&consent.redirect_uri)),
    };
    if consent.application.trusted {
        return format!("<p>Sign in to go on to {name}.</p>");
    }
    let scopes: String = consent
        .scopes
        .0
        .iter()
        .map(|scope| format!("<li><b>{scope}</b>: {}</li>", meaning(*scope)))
        .collect();
    format!(
        "<p>{name} asks to act for you. It will be able to use:</p><ul>{scopes}</ul><p>You will be {target}. \
         Only go on where you trust it.</p>"
    )
}

fn meaning(scope: Scope) -> &'static str {
    match scope {
        Scope::Api => "everything that you can do",
        Scope::ReadApi => "everything that you can read",
        Scope::ReadUser => "your profile",
        Scope::ReadRepository => "repositories, for reading",
        Scope::WriteRepository => "repositories, for reading and writing",
        Scope::ReadRegistry => "container images, for reading",
        Scope::WriteRegistry => "container images, for writing",
        Scope::Sudo => "everything that any user can do, where you are an administrator",
        Scope::AdminMode => "what needs an administrator, where you are one",
        Scope::CreateRunner => "new runners",
        Scope::ManageRunner => "runners",
        Scope::K8sProxy => "clusters, through their agents",
        Scope::AiFeatures => "assistance by language models",
        Scope::SelfRotate => "renewal of its own token",
        Scope::OpenId => "who you are",
        Scope::Profile => "your profile, for signing in elsewhere",
        Scope::Email => "your email address",
    }
}

/// What a policy has to name for a form to lead to an address.
fn origin(address: &str) -> String {
    let (scheme, rest) = address.split_once(':').unwrap_or((address, ""));
    let host = rest.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-.:[]".contains(sign);
    match scheme {
        "http" | "https" if host.chars().all(is_plain) => format!("{scheme}://{host}"),
        _ => format!("{scheme}:"),
    }
}

async fn ask(app: App, call: Call<Anyone, AskForAuthorization>) -> ApiResult<Custom> {
    let known = session_cookie::person(&app, call.header("cookie"), call.address()).await?;
    let question = ConsentRequest::from(call.params);
    Ok(Custom(match question.read(&app).await? {
        Ok(consent) => question.form(&app, &consent, (StatusCode::OK, ""), known.as_ref()),
        Err(refused) => refused,
    }))
}

async fn answer(app: App, call: Call<Anyone, AnswerAuthorization>) -> ApiResult<Custom> {
    if let Some(refused) = own_forms::refusal(&app, &call, TITLE) {
        return Ok(Custom(refused));
    }
    let session = session_cookie::person(&app, call.header("cookie"), call.address()).await?;
    let (address, given) = (call.address(), call.params);
    let (decision, username, password) = (given.decision, given.username, given.password);
    let question = ConsentRequest::from(AskForAuthorization {
        client_id: given.client_id,
        redirect_uri: given.redirect_uri,
        response_type: given.response_type,
        scope: given.scope,
        state: given.state,
        code_challenge: given.code_challenge,
        code_challenge_method: given.code_challenge_method,
        nonce: given.nonce,
    });
    let consent = match question.read(&app).await? {
        Ok(consent) => consent,
        Err(refused) => return Ok(Custom(refused)),
    };
    match decision.as_deref() {
        Some("deny") => return Ok(Custom(question.refused(Refusal::Denial))),
        Some("allow") => {}
        _ => return Ok(Custom(question.refused(Refusal::Request))),
    }
    // Who gives a name signs in anew, perhaps as somebody else.
    let known = session.filter(|_| username.is_none());
    let proof = match known.clone() {
        Some(user) => Proof::Session(Box::new(user)),
        None => Proof::Password(username.unwrap_or_default(), password.unwrap_or_default()),
    };
    let (status, wrong) = match agree(&app, &consent, proof, address).await {
        Ok(Some(Ok(code))) => return Ok(Custom(question.granted(code.reveal()))),
        Ok(Some(Err(refusal))) => return Ok(Custom(question.refused(refusal))),
        Ok(None) => (StatusCode::UNPROCESSABLE_ENTITY, WRONG),
        Err(failure) => {
            let Some(retry_after) = failure.retry_after() else { return Err(failure) };
            let told = (StatusCode::TOO_MANY_REQUESTS, OFTEN);
            let mut page = question.form(&app, &consent, told, known.as_ref());
            page.headers_mut().insert(header::RETRY_AFTER, retry_after.into());
            return Ok(Custom(page));
        }
    };
    Ok(Custom(question.form(&app, &consent, (status, wrong), known.as_ref())))
}

/// By what somebody proves who they are.
enum Proof {
    /// A user name or an address, and the password.
    Password(String, String),
    /// The browser in which they signed in before.
    Session(Box<User>),
}

/// A code, for somebody who proved who they are; `None` where they did not, or a password is not enough for them.
async fn agree(
    app: &App,
    consent: &Consent,
    proof: Proof,
    address: Option<IpAddr>,
) -> ApiResult<Option<Result<Secret, Refusal>>> {
    let is_anew = matches!(proof, Proof::Password(..));
    let user = match proof {
        Proof::Session(user) => *user,
        Proof::Password(login, clear) => {
            let Some(user) = proven(app, &login, clear, address).await? else { return Ok(None) };
            user
        }
    };
    let consent = consent.clone();
    let agreed = app.db.write(move |tx| {
        let user = user::life::reactivate(tx, &user)?;
        if !tokens::may_sign_in(tx, &user)? {
            if user.state.is_blocked() {
                user::actions::record_refused_sign_in(tx, &user)?;
            }
            return Ok(None);
        }
        if is_anew {
            user::actions::record_sign_in(tx, &user, address)?;
        }
        authorization::agree(tx, &consent, &user).map(Some)
    });
    Ok(agreed.await?)
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn a_policy_names_where_a_form_leads_and_nothing_else() {
        assert_eq!(origin("https://a.example.com:8443/back?x=1"), "https://a.example.com:8443");
        assert_eq!(origin("https://a.example.com?x=1"), "https://a.example.com");
        assert_eq!(origin("com.example.app:/back"), "com.example.app:");
        assert_eq!(origin("https://a;script-src/x"), "https:");
    }
}
