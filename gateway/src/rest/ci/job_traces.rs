//! Job logs: whole, in part, or as they are written.

use actix_web::{HttpRequest, HttpResponse, http::header, web::Bytes};
use ci::{
    job::{Job, actions},
    log::LogStore as _,
    policy::ReadJobs,
};
use forge::{
    ports::ci::Projects,
    runner::{
        LogNews, follow,
        logs::{close, log_place},
    },
};
use futures_util::StreamExt as _;
use kernel::{AccessLevel::Developer, Error, Result, ids::JobId};
use serde_json::json;
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, AsyncSeekExt as _, SeekFrom},
};
use tokio_util::io::ReaderStream;

use crate::{
    app::App,
    byte_range::{Conditions, begin},
    error::ApiResult,
    extract::Call,
    openapi::{AnswerDoc, Schemas},
    params,
    present::Answer,
    routes,
};

routes! { "Job logs" at "/projects/{id}/jobs/{job_id}/trace";
    GET "" => show : ReadJobs,
}

params! {
    pub struct OneJobLog {
        job_id: JobId,
    }
}

const EVENTS: &str = "text/event-stream";
/// Milliseconds after which a follower whose connection broke asks again.
const RETRY: &str = "retry: 1000\n\n";

/// A log, as text or as events.
struct Log(HttpResponse);

impl Answer for Log {
    fn respond(self, _: &HttpRequest) -> HttpResponse {
        self.0
    }

    fn describe(_: &mut Schemas) -> AnswerDoc {
        let follow = "`text/event-stream` follows the log while it is written. Each event has a piece of it as a JSON \
                      string, and as its id the number of bytes up to the end of that piece. The last event is `end` \
                      with the status of the job.";
        let resume = "With `text/event-stream`: number of log bytes already received.";
        AnswerDoc::text(200)
            .also_as(EVENTS)
            .with_parts("text/plain")
            .heeding("Accept", follow)
            .heeding("Last-Event-ID", resume)
    }
}

async fn show(app: App, call: Call<ReadJobs, OneJobLog>) -> ApiResult<Log> {
    let id = call.params.job_id;
    let (grant, who) = (call.grant.clone(), call.whom());
    let sees_restricted = grant.who().is(Developer);
    let read = app.db.read(move |tx| {
        let job = actions::read(tx, &grant, &Projects, id)?;
        let restricted = tx.find_log(id)?.is_some_and(|log| log.restricted);
        match restricted && !sees_restricted {
            true => Err(Error::forbidden()),
            false => Ok(job),
        }
    });
    let job = read.await?;
    if job.status.is_complete() {
        close(&app, &job).await?;
    }
    if wants_events(call.header("Accept")) && !call.is_method("HEAD") {
        let from = call.header("Last-Event-ID").and_then(|id| id.trim().parse().ok());
        let news = follow(&app, job, from.unwrap_or_default(), sees_restricted, who)?;
        return Ok(Log(events(news)));
    }
    Ok(Log(text(&app, &job, &Conditions::of(&call)).await?))
}

/// Whether events are asked for by name: who takes anything gets a text.
fn wants_events(accept: Option<&str>) -> bool {
    let kinds = accept.unwrap_or_default().split(',');
    kinds.filter_map(|kind| kind.split(';').next()).any(|kind| kind.trim() == EVENTS)
}

/// As much as is there by now, or a part of it.
async fn text(app: &App, job: &Job, conditions: &Conditions) -> Result<HttpResponse> {
    let file = match File::open(app.logs.path(log_place(job))).await {
        Err(absent) if absent.kind() == std::io::ErrorKind::NotFound => None,
        file => Some(file.map_err(Error::internal)?),
    };
    let length = match &file {
        Some(file) => file.metadata().await.map_err(Error::internal)?.len(),
        None => 0,
    };
    let selection = conditions.select(length, None);
    let mut response = match begin(&selection, length, None) {
        Ok(response) => response,
        Err(answer) => return Ok(*answer),
    };
    let name = format!("infile; filename=\"{}.log\"", job.id);
    response.content_type("text/plain").insert_header((header::CONTENT_DISPOSITION, name));
    let Some(mut file) = file else { return Ok(response.body("")) };
    let span = selection.span(length);
    if span.start > 0 {
        file.seek(SeekFrom::Start(span.start)).await.map_err(Error::internal)?;
    }
    // It may grow meanwhile.
    let size = span.end - span.start;
    Ok(response.no_chunking(size).streaming(ReaderStream::new(file.take(size))))
}

/// Server-sent events. A piece is read when the one before is on its way, so one who reads slowly holds one piece.
fn events(news: impl futures_util::Stream<Item = Result<LogNews>> + 'static) -> HttpResponse {
    let first = futures_util::stream::iter([Ok(Bytes::from_static(RETRY.as_bytes()))]);
    let told = news.map(|news| match news {
        Ok(news) => Ok(Bytes::from(event(&news))),
        Err(failure) => {
            tracing::error!(error = %failure, details = ?failure, "a log cannot be followed on");
            Err(failure)
        }
    });
    HttpResponse::Ok()
        .content_type(EVENTS)
        .insert_header((header::CACHE_CONTROL, "no-cache, no-transform"))
        // Proxies would collect pieces before they pass them on.
        .insert_header(("X-Accel-Buffering", "no"))
        .streaming(first.chain(told))
}

fn event(news: &LogNews) -> String {
    match news {
        LogNews::Piece { bytes, end } => {
            let text = json!(String::from_utf8_lossy(bytes));
            format!("id: {end}\ndata: {text}\n\n")
        }
        LogNews::Quiet => ": quiet\n\n".to_owned(),
        LogNews::End(status) => {
            format!("event: end\ndata: {}\n\n", json!({ "status": status.to_string() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use forge::runner::LogNews;

    use super::{event, wants_events};

    #[test]
    fn a_piece_is_one_line_whatever_is_in_it() {
        let bytes = b"a\r\n\x1b[0Kid: 7\n\n\xff".to_vec();
        let told = event(&LogNews::Piece { bytes, end: 14 });
        assert_eq!(told, "id: 14\ndata: \"a\\r\\n\\u001b[0Kid: 7\\n\\n\u{fffd}\"\n\n");
    }

    #[test]
    fn events_are_for_those_who_name_them() {
        for accept in ["text/event-stream", "text/html, text/event-stream; q=0.9"] {
            assert!(wants_events(Some(accept)), "{accept}");
        }
        for accept in [None, Some("*/*"), Some("text/plain"), Some("text/event-streams")] {
            assert!(!wants_events(accept), "{accept:?}");
        }
    }
}
