//! Runners register, prove that they are known, and go: what they show is a token of their own kind.

use std::collections::HashSet;

use actix_web::{HttpResponse, http::StatusCode};
use entities::runners::runner::{RegisteredRunnerEntity, ResetTokenEntity};
use forge::runner::{contact, registration};
use kernel::{Error, access::Anyone};
use runners::{
    manager::{Contact, ManagerStore as _},
    runner::{RunnerAccess, RunnerToken, register},
};
use secrets::Secret;

use super::runner_params::RunnerFields;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, Csv, Param, ParamErrors, Params, Raw},
    params,
    present::{Created, Custom, Json, NoContent},
    routes,
};

routes! { "Runner registration" at "/runners", any scope;
    POST   ""                            => create         : Anyone,
    DELETE ""                            => remove         : Anyone,
    POST   "/verify"                     => verify         : Anyone,
    POST   "/reset_authentication_token" => reset          : Anyone,
    DELETE "/managers"                   => remove_manager : Anyone,
    GET    "/router/discovery"           => discover       : Anyone,
}

params! {
    /// What a runner tells of itself; whatever else it tells is ignored.
    pub struct RunnerInfo {
        name: Option<String>,
        version: Option<String>,
        revision: Option<String>,
        platform: Option<String>,
        architecture: Option<String>,
        features: Option<Features>,
    }
}

/// The names of what a runner can do.
#[derive(Clone, Debug, Default)]
pub struct Features(pub HashSet<String>);

impl Param for Features {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Raw::Map(map) = raw else { return Ok(None) };
        let able = map.iter().filter(|(_, value)| matches!(value, Raw::Bool(true)));
        Ok(Some(Self(able.map(|(name, _)| name.to_owned()).collect())))
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "object" })
    }
}

/// What a runner that calls tells of itself, with where it calls from.
pub(super) fn contact_of<P: Params>(
    call: &Call<Anyone, P>,
    info: Option<RunnerInfo>,
    system_id: Option<String>,
) -> Contact {
    let ip_address = call.address().map(|address| address.to_string());
    let Some(info) = info else { return Contact { system_id, ip_address, ..Contact::default() } };
    let RunnerInfo { name, version, revision, platform, architecture, .. } = info;
    Contact { system_id, name, version, revision, platform, architecture, ip_address }.bounded()
}

params! {
    pub struct RegisterRunner {
        /// Registration token of the instance, of a group or of a project.
        token: String,
        description: Option<String>,
        maintenance_note: Option<String>,
        /// Same as `maintenance_note`; deprecated.
        maintainer_note: Option<String>,
        /// Deprecated: the opposite of `paused`.
        active: Option<bool>,
        /// Whether the runner is paused.
        paused: Option<bool>,
        locked: Option<bool>,
        run_untagged: Option<bool>,
        access_level: Option<RunnerAccess>,
        tag_list: Option<Csv<String>>,
        /// Maximum duration of a job in seconds.
        maximum_timeout: Change<i64>,
        info: Option<RunnerInfo>,
    } with exclusive("active", "paused"), exclusive("maintenance_note", "maintainer_note");
}

async fn create(
    app: App,
    mut call: Call<Anyone, RegisterRunner>,
) -> ApiResult<Created<RegisteredRunnerEntity>> {
    let info = call.params.info.take();
    let contact = contact_of(&call, info, None);
    let params = call.params;
    let given = RunnerFields {
        description: params.description,
        maintenance_note: params.maintenance_note.or(params.maintainer_note),
        active: params.active,
        paused: params.paused,
        locked: params.locked,
        run_untagged: params.run_untagged,
        access_level: params.access_level,
        tag_list: params.tag_list,
        maximum_timeout: params.maximum_timeout,
    };
    let (shown, token) = (Secret::new(params.token), RunnerToken::registered());
    let own = token.clone();
    let made = app.db.write(move |tx| {
        let made = registration::register(tx, &shown, given.into(), &own)?;
        tx.record_contact(made.id, &contact)?;
        Ok(made)
    });
    Ok(Created(RegisteredRunnerEntity::new(&made.await?, &token)))
}

params! {
    pub struct ShowRunnerToken {
        token: String,
        /// ID of the runner manager.
        system_id: Option<String>,
        info: Option<RunnerInfo>,
    }
}

async fn remove(app: App, call: Call<Anyone, ShowRunnerToken>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let token = RunnerToken::given(call.params.token);
    let removed = app.db.write(move |tx| {
        let runner = register::authenticate(tx, &token)?;
        register::remove(tx, &runner, since)
    });
    removed.await?;
    Ok(NoContent)
}

async fn verify(
    app: App,
    mut call: Call<Anyone, ShowRunnerToken>,
) -> ApiResult<Json<RegisteredRunnerEntity>> {
    let (info, system_id) = (call.params.info.take(), call.params.system_id.take());
    let contact = contact_of(&call, info, system_id);
    let token = RunnerToken::given(call.params.token);
    let runner = contact::authenticate(&app, &token, contact).await?;
    Ok(Json(RegisteredRunnerEntity::new(&runner, &token)))
}

async fn reset(
    app: App,
    call: Call<Anyone, ShowRunnerToken>,
) -> ApiResult<Created<ResetTokenEntity>> {
    let token = RunnerToken::given(call.params.token);
    let changed = app.db.write(move |tx| registration::renew_token(tx, &token));
    Ok(Created(changed.await?.into()))
}

params! {
    pub struct OneManager {
        token: String,
        system_id: String,
    }
}

async fn remove_manager(app: App, call: Call<Anyone, OneManager>) -> ApiResult<NoContent> {
    let (token, system_id) = (RunnerToken::given(call.params.token), call.params.system_id);
    let removed = app.db.write(move |tx| {
        let runner = register::authenticate(tx, &token)?;
        tx.delete_manager(runner.id, &system_id)
    });
    match removed.await? {
        true => Ok(NoContent),
        false => Err(Error::not_found("Runner manager not found").into()),
    }
}

params! {
    pub struct DiscoverRouter {
        /// Token of the runner. Not needed if the header `RUNNER-TOKEN` has it.
        token: Option<String>,
    }
}

/// There is no router: runners go on asking here.
async fn discover(app: App, call: Call<Anyone, DiscoverRouter>) -> ApiResult<Custom> {
    let shown = call.header("RUNNER-TOKEN").map(str::to_owned).or(call.params.token);
    let token = RunnerToken::given(shown.unwrap_or_default());
    app.db.peek(move |tx| register::authenticate(tx, &token)).await?;
    let body = serde_json::json!({ "message": "501 Not Implemented" });
    Ok(Custom(HttpResponse::build(StatusCode::NOT_IMPLEMENTED).json(body)))
}
