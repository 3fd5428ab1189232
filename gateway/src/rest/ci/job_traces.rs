//! What jobs write.

use actix_web::{HttpResponse, http::header};
use ci::{job::actions, log::LogStore as _, policy::ReadJobs};
use forge::{
    ports::ci::Projects,
    runner::logs::{close, log_place},
};
use kernel::{AccessLevel::Developer, Error, ids::JobId};
use tokio::{fs::File, io::AsyncReadExt as _};
use tokio_util::io::ReaderStream;

use crate::{app::App, error::ApiResult, extract::Call, params, present::Custom, routes};

routes! { "Job logs" at "/projects/{id}/jobs/{job_id}/trace";
    GET "" => show : ReadJobs,
}

params! {
    pub struct OneJobLog {
        job_id: JobId,
    }
}

/// As much as is there by now.
async fn show(app: App, call: Call<ReadJobs, OneJobLog>) -> ApiResult<Custom> {
    let (grant, id) = (call.grant, call.params.job_id);
    let read = app.db.read(move |tx| {
        let job = actions::read(tx, &grant, &Projects, id)?;
        let restricted = tx.find_log(id)?.is_some_and(|log| log.restricted);
        match restricted && !grant.who().is(Developer) {
            true => Err(Error::Forbidden),
            false => Ok(job),
        }
    });
    let job = read.await?;
    if job.status.is_complete() {
        close(&app, &job).await?;
    }
    let mut response = HttpResponse::Ok();
    response
        .content_type("text/plain")
        .insert_header((header::CONTENT_DISPOSITION, format!("infile; filename=\"{id}.log\"")));
    let path = app.logs.path(log_place(&job));
    Ok(Custom(match File::open(path).await {
        Ok(file) => {
            // It may grow meanwhile.
            let length = file.metadata().await.map_err(Error::internal)?.len();
            response.no_chunking(length).streaming(ReaderStream::new(file.take(length)))
        }
        Err(absent) if absent.kind() == std::io::ErrorKind::NotFound => response.body(""),
        Err(failure) => return Err(Error::internal(failure).into()),
    }))
}
