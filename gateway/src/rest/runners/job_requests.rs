//! Runners ask for jobs.

use std::{collections::HashSet, time::Duration};

use actix_web::HttpResponse;
use entities::runners::job_payload::JobPayload;
use forge::runner::dispatch::{JobAnswer, JobRequest, request_job};
use kernel::access::Anyone;
use runners::{mailbox::Process, runner::RunnerToken};

use super::registration::{RunnerInfo, contact_of};
use crate::{
    app::App, error::ApiResult, extract::Call, params, present::Custom, routes, vendor::LAST_UPDATE,
};

routes! { "Job requests of runners" at "/jobs/request", any scope;
    POST "" => request : Anyone,
}

/// A runner for which there is nothing is kept waiting for so long.
const HOLD: Duration = Duration::from_secs(50);

params! {
    pub struct RequestJob {
        /// Token of the runner. Not needed if the header `RUNNER-TOKEN` has it.
        token: Option<String>,
        /// ID of the runner manager.
        system_id: Option<String>,
        /// Cursor from the previous response.
        last_update: Option<String>,
        /// Only jobs that have been waiting for at least this many seconds.
        job_age: Option<i64>,
        info: Option<RunnerInfo>,
    }
}

async fn request(app: App, mut call: Call<Anyone, RequestJob>) -> ApiResult<Custom> {
    let (mut info, system_id) = (call.params.info.take(), call.params.system_id.take());
    let features = info.as_mut().and_then(|info| info.features.take()).map(|all| all.0);
    let contact = contact_of(&call, info, system_id);
    let header = call.header("RUNNER-TOKEN").map(str::to_owned);
    let token = RunnerToken::given(call.params.token.or(header).unwrap_or_default());
    // Runners that name no program share an address with those of the same one.
    let named = contact.system_id.clone().filter(|id| !id.is_empty());
    let process = named.or(contact.ip_address.clone()).unwrap_or_default();
    let request = JobRequest {
        cursor: call.params.last_update,
        features: features.unwrap_or_else(HashSet::new),
        job_age: call.params.job_age,
    };
    let process = Process(process);
    let answer = Box::pin(request_job(&app, (&token, contact), &process, &request, HOLD)).await?;
    Ok(Custom(match answer {
        JobAnswer::Job(handover) => HttpResponse::Created().json(JobPayload::new(&handover)),
        JobAnswer::Nothing { cursor } => {
            HttpResponse::NoContent().insert_header((LAST_UPDATE, cursor)).finish()
        }
        JobAnswer::Conflict => {
            HttpResponse::Conflict().json(serde_json::json!({ "message": "409 Conflict" }))
        }
    }))
}
