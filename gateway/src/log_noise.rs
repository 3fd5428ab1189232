//! What strangers can make the HTTP library complain of: it is no error of this server's, and would let anybody fill the
//! log that an operator alarms on.

use std::fmt::{self, Write as _};

use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
};
use tracing_subscriber::layer::{Context, Layer};

/// Lets through what a malformed or broken-off request brings forth only where everything down to debug is logged.
#[derive(Clone, Copy, Debug)]
pub struct MalformedRequestFilter;

impl<S: Subscriber> Layer<S> for MalformedRequestFilter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        let complaint =
            *metadata.level() == Level::ERROR && metadata.target().starts_with("actix_http");
        !complaint || LevelFilter::current() >= Level::DEBUG || !is_of_a_stranger(&text_of(event))
    }
}

/// Whether it tells of the request, and not of the answer.
fn is_of_a_stranger(text: &str) -> bool {
    const OF_REQUESTS: [&str; 6] = [
        "stream error: request parse error",
        "stream error: request did not complete",
        "stream error: I/O error",
        "stream error: handler dropped payload",
        "MAX_BUFFER_SIZE",
        // A frame of a WebSocket.
        "Unfinished fragment",
    ];
    OF_REQUESTS.iter().any(|start| text.starts_with(start))
}

fn text_of(event: &Event<'_>) -> String {
    let mut text = Text(String::new());
    event.record(&mut text);
    text.0
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a text does not fail.
            let _written = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_a_stranger;

    #[test]
    fn what_a_request_brings_forth_is_told_from_what_an_answer_does() {
        assert!(is_of_a_stranger("stream error: request parse error: invalid Header provided"));
        assert!(is_of_a_stranger("MAX_BUFFER_SIZE unprocessed data reached, closing"));
        assert!(is_of_a_stranger("stream error: I/O error: timed out"));
        assert!(is_of_a_stranger("stream error: request did not complete within the timeout"));
        assert!(is_of_a_stranger("Unfinished fragment Ping"));
        assert!(!is_of_a_stranger("stream error: body error: the archive broke off"));
        assert!(!is_of_a_stranger("Response payload stream error: the archive broke off"));
    }
}
