//! Figures about the running server, in the form that Prometheus reads.

use std::{sync::OnceLock, time::Duration};

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

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
    metrics::counter!("forgeway_requests_total", "method" => method, "route" => route, "status" => status.to_string())
        .increment(1);
    metrics::histogram!("forgeway_request_seconds", "method" => method, "route" => route)
        .record(took.as_secs_f64());
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
