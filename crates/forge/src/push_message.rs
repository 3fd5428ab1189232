//! Errors as git prints them to whoever pushes.

use kernel::{
    Error,
    error::{Kind, Message},
};

/// The sentence that a pusher reads for an error. An internal error goes to the log instead.
pub fn push_message(error: &Error) -> String {
    match (error.kind, &error.message) {
        (Kind::BadRequest | Kind::Conflict, Message::Whole(text))
        | (Kind::Forbidden, Message::Reason(text)) => text.clone(),
        (Kind::Forbidden, _) => "You are not allowed to push to this project.".to_owned(),
        _ if error.is_gone() => "There is no such project, or you may not see it.".to_owned(),
        _ => {
            tracing::error!(error = %error, details = ?error, "a push could not be decided");
            "Something failed in the server. Please try again.".to_owned()
        }
    }
}
