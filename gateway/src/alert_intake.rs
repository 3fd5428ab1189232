//! Alerts from monitors, at `/<namespace>/<project>/alerts/notify/…`: outside of the API, with keys of their own, and
//! refused without words.

use actix_web::{
    HttpRequest, HttpResponse, ResponseError as _,
    dev::Payload as Body,
    http::{Method, StatusCode, header},
    web::BytesMut,
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use forge::alert::intake;
use futures_util::StreamExt as _;
use percent_encoding::percent_decode_str;
use security::{
    alert::{Denial, IntakeResult, Payload},
    integration::{Endpoint, IntegrationKey, IntegrationKind},
};
use serde_json::{Value, json};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::SlowClientGuard,
    rate_limit::Area,
};

/// Bytes of what is sent.
const LARGEST: usize = 1 << 20;

/// URL to which alerts are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `group/subgroup/project`
    project: String,
    endpoint: Endpoint,
    /// Whether nothing but calls of Prometheus is taken.
    is_prometheus: bool,
}

const NOTIFY: &str = "/alerts/notify";

impl Address {
    /// Reads a path, still percent-encoded. Every form may end in `.json`.
    pub fn find(method: &Method, path: &str) -> Option<Self> {
        if *method != Method::POST || path.starts_with("/api/") {
            return None;
        }
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(".json").unwrap_or(path);
        if let Some(home) = path.strip_suffix(NOTIFY) {
            let prometheus = home.strip_suffix("/prometheus").and_then(project);
            return Some(match prometheus {
                Some(project) => Self {
                    project,
                    endpoint: Endpoint::Oldest(IntegrationKind::Prometheus),
                    is_prometheus: true,
                },
                None => Self {
                    project: project(home)?,
                    endpoint: Endpoint::Oldest(IntegrationKind::Http),
                    is_prometheus: false,
                },
            });
        }
        let (rest, identifier) = path.rsplit_once('/')?;
        let (home, _name) = rest.rsplit_once('/')?;
        let endpoint = endpoint(percent_decode_str(identifier).decode_utf8().ok()?.into());
        let project = project(home.strip_suffix(NOTIFY)?)?;
        Some(Self { project, endpoint, is_prometheus: false })
    }
}

/// Integrations from before there were several have names for identifiers.
fn endpoint(identifier: String) -> Endpoint {
    match identifier.as_str() {
        "legacy" => Endpoint::Oldest(IntegrationKind::Http),
        "legacy-prometheus" => Endpoint::Oldest(IntegrationKind::Prometheus),
        _ => Endpoint::Named(identifier),
    }
}

/// The path of a project, which lies in a namespace.
fn project(path: &str) -> Option<String> {
    let path = percent_decode_str(path.trim_start_matches('/')).decode_utf8().ok()?;
    path.contains('/').then(|| path.into_owned())
}

/// Takes what a monitor sends.
pub async fn answer(app: &App, req: &HttpRequest, body: Body, to: Address) -> HttpResponse {
    match take(app, req, body, to).await {
        Ok(answer) => answer,
        Err(failure) => failure.error_response(),
    }
}

fn bare(status: StatusCode) -> HttpResponse {
    HttpResponse::build(status).finish()
}

async fn take(app: &App, req: &HttpRequest, body: Body, to: Address) -> ApiResult<HttpResponse> {
    let within = app.rates.check_address(app.proxies.client(req), Area::Api);
    within.map_err(|refusal| ApiError::Rate(refusal, app.db.clock().now()))?;
    let Some(project) = intake::project(app, to.project).await? else {
        return Err(ApiError::NoRoute);
    };
    let text = read(app, req, body).await?;
    let Some(payload) = text.and_then(|text| Payload::read(&text)) else {
        return Ok(bare(StatusCode::BAD_REQUEST));
    };
    if to.is_prometheus && !payload.is_prometheus() {
        return Ok(bare(StatusCode::UNPROCESSABLE_ENTITY));
    }
    let found = intake::admit(app, project, to.endpoint, key(req)).await?;
    let admission = match found {
        Ok(admission) => admission,
        // Prometheus is not told which it is.
        Err(Denial::NoIntegration) if !payload.is_prometheus() => {
            return Ok(bare(StatusCode::FORBIDDEN));
        }
        Err(Denial::NoIntegration | Denial::WrongKey) => return Ok(bare(StatusCode::UNAUTHORIZED)),
    };
    app.rates.check_alert(project)?;
    Ok(match intake::receive(app, admission, payload).await? {
        IntakeResult::Stored(notices) => {
            let told = |notice| {
                let security::alert::Notice { iid, title } = notice;
                json!({ "iid": iid, "title": title })
            };
            HttpResponse::Ok().json(notices.into_iter().map(told).collect::<Vec<Value>>())
        }
        IntakeResult::Taken => bare(StatusCode::CREATED),
        IntakeResult::NotStored => bare(StatusCode::BAD_REQUEST),
    })
}

/// `None` where there is too much.
async fn read(app: &App, req: &HttpRequest, body: Body) -> ApiResult<Option<BytesMut>> {
    let mut pieces = SlowClientGuard::new(req, body, app.limits.patience);
    let mut text = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_cut_off| ApiError::Slow)?;
        if text.len() + piece.len() > LARGEST {
            return Ok(None);
        }
        text.extend_from_slice(&piece);
    }
    Ok(Some(text))
}

/// As a bearer, or as the password of nobody.
fn key(req: &HttpRequest) -> Option<IntegrationKey> {
    let given = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, text) = given.split_once(' ')?;
    if kind.eq_ignore_ascii_case("bearer") {
        return Some(IntegrationKey::given(text.trim()));
    }
    if !kind.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(BASE64.decode(text.trim()).ok()?).ok()?;
    pair.strip_prefix(':').map(IntegrationKey::given)
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use security::integration::{Endpoint, IntegrationKind};

    use super::Address;

    fn find(path: &str) -> Option<Address> {
        Address::find(&Method::POST, path)
    }

    #[test]
    fn every_form_is_found_with_and_without_its_suffix() {
        let named = || Endpoint::Named("0123456789abcdef".to_owned());
        for (path, project, endpoint, is_prometheus) in [
            ("/a/b/alerts/notify", "a/b", Endpoint::Oldest(IntegrationKind::Http), false),
            ("/a/b/c/alerts/notify/my-name/0123456789abcdef", "a/b/c", named(), false),
            (
                "/a/b/prometheus/alerts/notify",
                "a/b",
                Endpoint::Oldest(IntegrationKind::Prometheus),
                true,
            ),
            (
                "/a/prometheus/alerts/notify",
                "a/prometheus",
                Endpoint::Oldest(IntegrationKind::Http),
                false,
            ),
            ("/a/b/alerts/notify/x/legacy", "a/b", Endpoint::Oldest(IntegrationKind::Http), false),
            (
                "/a/b/alerts/notify/x/legacy-prometheus",
                "a/b",
                Endpoint::Oldest(IntegrationKind::Prometheus),
                false,
            ),
            ("/a/b%2Ec/alerts/notify", "a/b.c", Endpoint::Oldest(IntegrationKind::Http), false),
        ] {
            let expected = Address { project: project.to_owned(), endpoint, is_prometheus };
            for path in [path.to_owned(), format!("{path}.json"), format!("{path}/")] {
                assert_eq!(find(&path).as_ref(), Some(&expected), "{path}");
            }
        }
    }

    #[test]
    fn everything_else_is_none() {
        for path in [
            "/",
            "/alerts/notify",
            "/a/alerts/notify",
            "/a/alerts/notify/x/y",
            "/a/b/alerts/notify/x",
            "/a/b/alerts",
            "/api/v4/a/b/alerts/notify",
            "/a/b%ff/alerts/notify",
        ] {
            assert_eq!(find(path), None, "{path}");
        }
        assert_eq!(Address::find(&Method::GET, "/a/b/alerts/notify"), None);
    }
}
