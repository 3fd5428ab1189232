//! Runners tell how their jobs go, and bring what these write. A job shows its own token.

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder, ResponseError as _,
    dev::Payload,
    http::StatusCode,
    web::{Bytes, BytesMut},
};
use ci::{Status, job::JobToken};
use forge::runner::job_calls::{
    LogResult, Report, ReportResult, ShownJob, report, shown_job, write_log,
};
use futures_util::StreamExt as _;
use kernel::{Ability as _, Error, access::Anyone, ids::JobId};
use serde_json::{Value, json};

use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{
        Call, Param, ParamErrors, Raw, SlowClientGuard, ensure_known, params::MISSING, raw_pairs,
    },
    openapi::{AnswerDoc, Operation},
    param_enums, params,
    present::Custom,
    route::{Description, MatchedRoute, RouteRow},
    routes,
    vendor::{JOB_STATUS, TRACE_INTERVAL},
};

routes! { "Job updates of runners" at "/jobs/{job_id}", any scope;
    PUT "" => update : Anyone,
}

/// Bodies that are no parameters.
pub(crate) mod traces {
    use super::{Description, RouteRow, TRACE_DESCRIPTION, TRACE_ROUTE};

    pub(crate) static ROUTES: &[RouteRow] = &[TRACE_ROUTE];
    pub(crate) static DESCRIPTIONS: &[Description] = &[TRACE_DESCRIPTION];
}

const TRACE_ROUTE: RouteRow = RouteRow {
    method: "PATCH",
    pattern: "/jobs/{job_id}/trace",
    handler: "append",
    resource: "Job updates of runners",
    ability: Anyone::NAME,
    scope: "Instance",
    open: true,
    allows: Anyone::allows,
    also: None,
    for_jobs: false,
    serve: |app, req, payload, matched| Box::pin(serve_append(app, req, payload, matched)),
};

const TRACE_DESCRIPTION: Description = |_| Operation {
    params: Vec::new(),
    paged: false,
    keyset: false,
    answer: AnswerDoc::empty(202),
};

/// Seconds after which a runner sends the next piece of a log.
const INTERVAL: &str = "3";
/// Bytes of one piece of a log.
const LARGEST_PIECE: usize = 4 << 20;

kernel::text_enum! {
    pub enum ReportedState {
        Pending = "pending",
        Running = "running",
        Success = "success",
        Failed = "failed",
    }
}
param_enums! { ReportedState }

params! {
    pub struct LogOutput {
        checksum: Option<String>,
        /// Size of the log in bytes.
        bytesize: Option<i64>,
    }
}

/// A value that is only refused once the token was looked at: every answer about a job says how that is.
#[derive(Clone, Debug)]
pub struct UncheckedParams<T>(Result<T, ParamErrors>);

impl<T: Param> Param for UncheckedParams<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        Ok(T::read(raw).transpose().map(Self))
    }

    fn absent() -> Option<Self> {
        Some(Self(Err(ParamErrors::one(MISSING))))
    }

    fn schema() -> Value {
        T::schema()
    }
}

params! {
    pub struct UpdateJob {
        job_id: JobId,
        /// Token of the job. Not needed if the header `JOB-TOKEN` has it.
        token: Option<String>,
        state: UncheckedParams<ReportedState>,
        failure_reason: Option<UncheckedParams<String>>,
        exit_code: Option<UncheckedParams<i64>>,
        output: Option<UncheckedParams<LogOutput>>,
    }
}

impl UpdateJob {
    /// What is told, with the bytes of the log that the runner has sent; or what is wrong with it.
    fn report(self) -> Result<(Report, Option<u64>), String> {
        let mut flaws = ParamErrors::default();
        let state = judged("state", Some(self.state), &mut flaws);
        let reason = judged("failure_reason", self.failure_reason, &mut flaws);
        let exit_code = judged("exit_code", self.exit_code, &mut flaws);
        let output = judged("output", self.output, &mut flaws);
        let Some(state) = state.filter(|_| flaws.is_empty()) else { return Err(flaws.text()) };
        let told = match state {
            ReportedState::Pending | ReportedState::Running => Report::Running,
            ReportedState::Success => Report::Success,
            ReportedState::Failed => Report::Failed { reason, exit_code },
        };
        let size = output.and_then(|output| output.bytesize);
        Ok((told, size.and_then(|size| size.try_into().ok())))
    }
}

fn judged<T>(name: &str, value: Option<UncheckedParams<T>>, flaws: &mut ParamErrors) -> Option<T> {
    match value?.0 {
        Ok(value) => Some(value),
        Err(inner) => {
            flaws.add_under(name, inner);
            None
        }
    }
}

/// An answer that says how the job is.
pub(super) fn with_status(status: StatusCode, job: Status) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((JOB_STATUS, job.to_string()));
    response
}

/// Tells a runner to stop.
pub(super) fn refusal(shown: &ShownJob) -> Option<HttpResponse> {
    let why = shown.refusal()?;
    let body = json!({ "message": format!("403 Forbidden - {why}") });
    Some(with_status(StatusCode::FORBIDDEN, shown.job.status).json(body))
}

/// The header counts before the parameter.
fn token(header: Option<&str>, param: Option<&str>) -> JobToken {
    JobToken::given(header.or(param).unwrap_or_default())
}

async fn update(app: App, call: Call<Anyone, UpdateJob>) -> ApiResult<Custom> {
    let token = token(call.header("JOB-TOKEN"), call.params.token.as_deref());
    let shown = shown_job(&app, call.params.job_id, &token).await?;
    if let Some(refusal) = refusal(&shown) {
        return Ok(Custom(refusal));
    }
    let (told, size) = match call.params.report() {
        Ok(told) => told,
        Err(text) => {
            let mut response = with_status(StatusCode::BAD_REQUEST, shown.job.status);
            return Ok(Custom(response.json(json!({ "error": text }))));
        }
    };
    Ok(Custom(match report(&app, &shown, told, size).await? {
        ReportResult::Kept(status) => {
            let mut response = with_status(StatusCode::OK, status);
            response.content_type("text/plain").body("200")
        }
        ReportResult::LogIncomplete => {
            with_status(StatusCode::PRECONDITION_FAILED, shown.job.status).finish()
        }
    }))
}

async fn serve_append(
    app: App,
    req: HttpRequest,
    payload: Payload,
    matched: MatchedRoute,
) -> HttpResponse {
    match append(&app, &req, payload, &matched).await {
        Ok(response) => response,
        Err(failure) => failure.error_response(),
    }
}

/// The job that a request with a body of its own kind is about. Its token is looked at before anything is read.
pub(super) async fn entered(
    app: &App,
    req: &HttpRequest,
    matched: &MatchedRoute,
) -> ApiResult<ShownJob> {
    ensure_known(app, req, matched).await?;
    let in_path = matched.path_values(req.uri().path());
    let id = in_path.iter().find_map(|(name, value)| match value {
        Raw::Text(text) if *name == "job_id" => text.parse().ok(),
        _ => None,
    });
    let query = raw_pairs(req.query_string().as_bytes());
    let header = req.headers().get("JOB-TOKEN").and_then(|value| value.to_str().ok());
    let token = token(header, query.text("token"));
    Ok(shown_job(app, JobId(id.ok_or_else(Error::forbidden)?), &token).await?)
}

async fn append(
    app: &App,
    req: &HttpRequest,
    payload: Payload,
    matched: &MatchedRoute,
) -> ApiResult<HttpResponse> {
    let shown = entered(app, req, matched).await?;
    if let Some(refusal) = refusal(&shown) {
        return Ok(refusal);
    }
    let status = shown.job.status;
    let bad =
        |text: &str| with_status(StatusCode::BAD_REQUEST, status).json(json!({ "error": text }));
    let range = req.headers().get("Content-Range").and_then(|value| value.to_str().ok());
    let Some(range) = range else { return Ok(bad("400 Missing header Content-Range")) };
    // The end does not matter: the body tells how long it is.
    let Some(start) = range.split('-').next().and_then(|start| start.trim().parse().ok()) else {
        return Ok(bad("400 Invalid header Content-Range"));
    };
    let query = raw_pairs(req.query_string().as_bytes());
    let debug = matches!(query.text("debug_trace"), Some("true" | "1"));
    let piece = read(app, req, payload).await?;
    Ok(match write_log(app, &shown, start, piece, debug).await? {
        LogResult::Kept(length) => with_status(StatusCode::ACCEPTED, status)
            .insert_header(("Range", format!("0-{length}")))
            .insert_header((TRACE_INTERVAL, INTERVAL))
            .content_type("text/plain")
            .finish(),
        LogResult::Elsewhere(length) => with_status(StatusCode::RANGE_NOT_SATISFIABLE, status)
            .insert_header(("Range", format!("0-{length}")))
            .json(json!({ "error": "416 Range Not Satisfiable" })),
        LogResult::TooLong => with_status(StatusCode::FORBIDDEN, Status::Failed)
            .json(json!({ "error": "403 Forbidden" })),
    })
}

async fn read(app: &App, req: &HttpRequest, payload: Payload) -> ApiResult<Bytes> {
    let mut payload = SlowClientGuard::new(req, payload, app.limits.patience);
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_cut_off| ApiError::Slow)?;
        if body.len() + chunk.len() > LARGEST_PIECE {
            return Err(Error::too_large("a piece of a log").into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}
