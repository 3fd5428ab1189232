//! Changelogs from the trailers of commits: shown, or committed to a file.

use actix_web::HttpResponse;
use entities::repo::changelog::ChangelogEntity;
use forge::commit::changelog::{self, NewSection};
use kernel::Ts;
use repo::{
    changelog::{Request, Version},
    policy::{PushCode, ReadCode},
};
use serde_json::{Value, json};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Param, ParamErrors, Raw, params::INVALID},
    params,
    present::{Custom, Json},
    routes,
};

routes! { "Changelogs" at "/projects/{id}/repository/changelog";
    GET  "" => show : ReadCode also JobToken,
    POST "" => add  : PushCode,
}

const FILE: &str = "CHANGELOG.md";
const TRAILER: &str = "Changelog";

/// The number of a release: `1.2.3`, `v1.2.3-rc1`.
#[derive(Clone, Debug)]
pub struct VersionText(String);

impl Param for VersionText {
    fn read(raw: &Raw) -> std::result::Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            Some(text) if Version::parse(&text).is_some() => Ok(Some(Self(text))),
            _ => Err(ParamErrors::one(INVALID)),
        }
    }

    fn schema() -> Value {
        json!({ "type": "string", "examples": ["1.2.3"] })
    }
}

params! {
    pub struct ShowChangelog {
        version: VersionText,
        /// Commit after which the changelog starts. Default: the previous release.
        from: Option<String>,
        /// Last commit of the changelog. Default: the head of the default branch.
        to: Option<String>,
        date: Option<Ts>,
        /// Git trailer that adds a commit to the changelog.
        trailer: String = TRAILER.to_owned(),
        /// Path of the changelog configuration in the repository.
        config_file: Option<String>,
    }
}

async fn show(app: App, call: Call<ReadCode, ShowChangelog>) -> ApiResult<Json<ChangelogEntity>> {
    let params = call.params;
    let (date, request) = (params.date, params.into_request());
    Ok(Json(ChangelogEntity { notes: changelog::section(&app, &call.grant, request, date).await? }))
}

impl ShowChangelog {
    fn into_request(self) -> Request {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Request {
            version: self.version.0,
            from: given(self.from),
            to: given(self.to),
            trailer: self.trailer,
            config_file: given(self.config_file),
        }
    }
}

params! {
    pub struct AddChangelog {
        version: VersionText,
        from: Option<String>,
        to: Option<String>,
        date: Option<Ts>,
        trailer: String = TRAILER.to_owned(),
        config_file: Option<String>,
        /// Branch to commit to. Default: the default branch.
        branch: Option<String>,
        file: String = FILE.to_owned(),
        /// Attributes of the commit.
        message: Option<String>,
    }
}

async fn add(app: App, call: Call<PushCode, AddChangelog>) -> ApiResult<Custom> {
    let (grant, caller) = (call.grant, call.caller.user()?);
    changelog::add(&app, &grant, caller, call.params.into()).await?;
    Ok(Custom(HttpResponse::Ok().content_type("application/json").body("null")))
}

impl From<AddChangelog> for NewSection {
    fn from(given: AddChangelog) -> Self {
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        let request = Request {
            version: given.version.0,
            from: text(given.from),
            to: given.to,
            trailer: given.trailer,
            config_file: text(given.config_file),
        };
        Self {
            request,
            date: given.date,
            branch: given.branch,
            file: given.file,
            message: given.message,
        }
    }
}
