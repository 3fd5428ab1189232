//! Figures about the running server, in the form that Prometheus reads.

use std::{cell::RefCell, collections::HashMap, sync::OnceLock, time::Duration};

use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use worker::Depth;

/// Seconds; from a cached row to a slow clone.
const BUCKETS: [f64; 12] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();

/// Begins to count. Only the first call does anything.
pub fn install() {
    HANDLE.get_or_init(|| {
        let builder = PrometheusBuilder::new();
        let builder = match builder
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)
        {
            Ok(builder) => builder,
            Err(_) => PrometheusBuilder::new(),
        };
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        // Another recorder is there only when a library user brought one; it then gets the figures.
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("figures are collected elsewhere");
        }
        describe();
        handle
    });
}

/// One request that was answered.
pub fn answered(method: &str, route: &'static str, status: u16, took: Duration) {
    let method = match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    };
    RECORDERS.with_borrow_mut(|all| {
        let recorder = all.entry((method, route, status)).or_insert_with(|| {
            let status = status.to_string();
            RequestRecorder {
                answers: metrics::counter!("forgeway_requests_total", "method" => method, "route" => route, "status" => status),
                seconds: metrics::histogram!("forgeway_request_seconds", "method" => method, "route" => route),
            }
        });
        recorder.answers.increment(1);
        recorder.seconds.record(took.as_secs_f64());
    });
}

/// What counts the answers of one route, method and status. Looking both up by their labels took longer than counting.
struct RequestRecorder {
    answers: Counter,
    seconds: Histogram,
}

thread_local! {
    /// Those of the answers that a thread has given: a few for each route that was asked for.
    static RECORDERS: RefCell<HashMap<(&'static str, &'static str, u16), RequestRecorder>> = RefCell::default();
}

/// What is true at this moment, for the page that is about to be rendered.
pub fn now(git_children: usize, work: Option<Depth>, ready: bool) {
    metrics::gauge!("forgeway_ready").set(if ready { 1.0 } else { 0.0 });
    let children = u32::try_from(git_children).unwrap_or(u32::MAX);
    metrics::gauge!("forgeway_git_children").set(f64::from(children));
    let Some(work) = work else { return };
    let count = |many: i64| f64::from(u32::try_from(many).unwrap_or(u32::MAX));
    metrics::gauge!("forgeway_work_waiting").set(count(work.waiting));
    metrics::gauge!("forgeway_work_given_up").set(count(work.given_up));
}

/// A request that was one too many.
pub fn refused(limit: &'static str) {
    metrics::counter!("forgeway_rate_limited_total", "limit" => limit).increment(1);
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("forgeway_requests_total", "Requests that were answered");
    describe_histogram!("forgeway_request_seconds", "From a request's head to its answer's head");
    describe_counter!("forgeway_rate_limited_total", "Requests refused by a rate limit");
    describe_histogram!("forgeway_database_seconds", "Transactions, from their begin to their end");
    describe_histogram!(
        "forgeway_database_wait_seconds",
        "How long transactions wait for a connection or for the writer"
    );
    describe_counter!("forgeway_work_total", "Pieces of background work, by how they ended");
    describe_gauge!("forgeway_work_waiting", "Pieces of background work that wait");
    describe_gauge!("forgeway_work_given_up", "Pieces of background work that wait for a person");
    describe_gauge!("forgeway_git_children", "Git processes that run now");
    describe_gauge!("forgeway_ready", "1 while requests are served");
}

/// The page that Prometheus reads.
pub fn render() -> String {
    HANDLE.get().map(PrometheusHandle::render).unwrap_or_default()
}

/// Keeps what is counted small; call it now and then.
pub fn upkeep() {
    if let Some(handle) = HANDLE.get() {
        handle.run_upkeep();
    }
}
