//! Requests between nodes, with signatures instead of tokens.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode};
use entities::geo::pipeline_refs::PipelineRefsEntity;
use forge::geo::{self as actions, Retrieval};
use geo::{policy::CallAsGeoNode, request::SignedRequest, status::actions::StatusReport};
use kernel::{Error, Ts, ids::GeoNodeId};
use serde_json::{Value, json};

use super::node_params::CounterMap;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    openapi::{AnswerDoc, Schemas},
    params,
    present::{Answer, Custom, Json},
    routes,
};

routes! { "Geo replication" at "/geo", any scope;
    GET  "/status"                                      => tell_status   : CallAsGeoNode,
    POST "/status"                                      => report        : CallAsGeoNode,
    GET  "/retrieve/{replicable_name}/{*replicable_id}" => retrieve      : CallAsGeoNode,
    GET  "/repositories/{gl_repository}/pipeline_refs"  => pipeline_refs : CallAsGeoNode,
}

/// 201 without a record.
pub struct Receipt;

impl Answer for Receipt {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        HttpResponse::build(StatusCode::CREATED).json(Value::Null)
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        AnswerDoc::empty(201)
    }
}

/// The node that signed a call.
fn node_of<P>(call: &Call<CallAsGeoNode, P>) -> ApiResult<SignedRequest> {
    Ok(call.signed_request().ok_or_else(Error::unauthenticated)?)
}

params! {
    pub struct ReportStatus {
        /// Id of the node that reports, which must have signed the call.
        geo_node_id: GeoNodeId,
        /// Seconds by which its database is behind that of the primary.
        db_replication_lag_seconds: Option<i64>,
        /// Id of the newest event that it knows.
        last_event_id: Option<i64>,
        last_event_date: Option<Ts>,
        /// Id of the newest event that it has acted on.
        cursor_last_event_id: Option<i64>,
        cursor_last_event_date: Option<Ts>,
        last_successful_status_check_at: Option<Ts>,
        /// What is wrong there; blank or `Healthy` where all is well.
        status_message: Option<String>,
        replication_slots_count: Option<i64>,
        replication_slots_used_count: Option<i64>,
        /// In bytes.
        replication_slots_max_retained_wal_bytes: Option<i64>,
        version: Option<String>,
        revision: Option<String>,
        storage_configuration_digest: Option<String>,
        /// Counters by their names.
        status: Option<CounterMap>,
    }
}

impl ReportStatus {
    fn into_report(self) -> StatusReport {
        let mut counters = self.status.unwrap_or_default().0;
        let slots = [
            ("replication_slots_count", self.replication_slots_count),
            ("replication_slots_used_count", self.replication_slots_used_count),
            (
                "replication_slots_max_retained_wal_bytes",
                self.replication_slots_max_retained_wal_bytes,
            ),
        ];
        let given = slots.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        counters.extend(given);
        StatusReport {
            db_replication_lag_seconds: self.db_replication_lag_seconds,
            last_event_id: self.last_event_id,
            last_event_at: self.last_event_date,
            cursor_last_event_id: self.cursor_last_event_id,
            cursor_last_event_at: self.cursor_last_event_date,
            last_successful_status_check_at: self.last_successful_status_check_at,
            status_message: self.status_message,
            version: self.version,
            revision: self.revision,
            storage_configuration_digest: self.storage_configuration_digest,
            counters,
        }
    }
}

async fn report(app: App, call: Call<CallAsGeoNode, ReportStatus>) -> ApiResult<Receipt> {
    let request = node_of(&call)?;
    let of = call.params.geo_node_id;
    actions::report(&app, request, of, call.params.into_report()).await?;
    Ok(Receipt)
}

async fn tell_status(app: App, call: Call<CallAsGeoNode>) -> ApiResult<Custom> {
    let report = actions::own_report(&app, &node_of(&call)?).await?;
    Ok(Custom(HttpResponse::Ok().json(report)))
}

params! {
    pub struct OneFile {
        /// `upload`, `avatar`, `lfs_object` or `job_artifact`.
        replicable_name: String,
        /// Name of the file in the storage of its kind.
        replicable_id: String,
    }
}

async fn retrieve(app: App, call: Call<CallAsGeoNode, OneFile>) -> ApiResult<Custom> {
    let request = node_of(&call)?;
    let OneFile { replicable_name, replicable_id } = call.params;
    let found = actions::retrieve(&app, request, &replicable_name, &replicable_id).await?;
    let lost = |text: &str, code: Option<&str>| {
        let mut body = json!({ "message": text });
        if let Some(code) = code {
            body["geo_code"] = json!(code);
        }
        Custom(HttpResponse::NotFound().json(body))
    };
    Ok(match found {
        Retrieval::Found { length, pieces, sha256 } => {
            let mut response = HttpResponse::Ok();
            response.content_type("application/octet-stream");
            if let Some(sha256) = sha256 {
                response.insert_header(("X-Checksum-Sha256", sha256));
            }
            Custom(response.no_chunking(length).streaming(pieces))
        }
        Retrieval::Lost => lost("File not found", Some("FILE_NOT_FOUND")),
        Retrieval::Changed => lost("Checksum mismatch", None),
    })
}

params! {
    pub struct OneRepository {
        /// `project-1` for the repository of the project with this id.
        gl_repository: String,
    }
}

async fn pipeline_refs(
    app: App,
    call: Call<CallAsGeoNode, OneRepository>,
) -> ApiResult<Json<PipelineRefsEntity>> {
    let request = node_of(&call)?;
    let found = actions::pipeline_refs(&app, request, &call.params.gl_repository).await?;
    Ok(Json(PipelineRefsEntity { pipeline_refs: found }))
}
