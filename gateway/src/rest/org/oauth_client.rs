//! Authentication of OAuth clients.

use actix_web::http::{StatusCode, header};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use kernel::access::Anyone;
use org::{
    application::{Application, ApplicationStore as _},
    token::Secret,
};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::Call,
};

const INVALID_CLIENT: &str = "Client authentication failed due to unknown client, no client authentication included, \
                              or unsupported authentication method.";

pub(super) fn invalid_client() -> ApiError {
    let (status, code) = (StatusCode::UNAUTHORIZED, "invalid_client");
    ApiError::OAuth { status, code, text: INVALID_CLIENT }
}

/// What an application shows of itself.
pub(super) struct ClientProof {
    uid: String,
    secret: Option<String>,
}

impl ClientProof {
    /// From the header of the request, or else from its parameters.
    ///
    /// # Errors
    /// 401 where the header cannot be read, or says something else than the parameters.
    pub(super) fn shown<P>(
        call: &Call<Anyone, P>,
        uid: Option<&String>,
        secret: Option<&String>,
    ) -> ApiResult<Option<Self>> {
        let given = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
        let in_params = given(uid).map(|uid| Self { uid, secret: given(secret) });
        let Some(header) = basic(call.header(header::AUTHORIZATION.as_str())) else {
            return Ok(in_params);
        };
        let in_header = read(header).ok_or_else(invalid_client)?;
        match in_params {
            Some(other) if other.uid != in_header.uid || other.secret.is_some() => {
                Err(invalid_client())
            }
            _ => Ok(Some(in_header)),
        }
    }

    /// The application.
    ///
    /// # Errors
    /// 401 where there is none, or it is another one.
    pub(super) async fn check(self, app: &App) -> ApiResult<Application> {
        let uid = self.uid;
        let found = app.db.peek(move |tx| tx.find_client(&uid)).await?;
        let secret = self.secret.as_deref().map(Secret::given);
        let proven = found.filter(|found| found.is_proven_by(secret.as_ref()));
        proven.ok_or_else(invalid_client)
    }
}

/// What follows the word `Basic`.
fn basic(header: Option<&str>) -> Option<&str> {
    let (kind, value) = header?.split_once(' ')?;
    kind.eq_ignore_ascii_case("basic").then(|| value.trim())
}

fn read(value: &str) -> Option<ClientProof> {
    let text = String::from_utf8(BASE64_STANDARD.decode(value).ok()?).ok()?;
    let (uid, secret) = text.split_once(':')?;
    let secret = Some(secret.to_owned()).filter(|secret| !secret.is_empty());
    Some(ClientProof { uid: uid.to_owned(), secret })
}

/// The application that asks, where one says who it is.
pub(super) async fn client(
    app: &App,
    shown: ApiResult<Option<ClientProof>>,
) -> ApiResult<Option<Application>> {
    match shown? {
        Some(proof) => proof.check(app).await.map(Some),
        None => Ok(None),
    }
}
