//! Errors as git prints them to whoever pushes.

use kernel::{
    Error,
    error::{Kind, Message},
};

/// The sentence that a pusher reads for an error. An internal error goes to the log instead.
pub fn push_message(error: &Error) -> String {
    match error {
        Error {
            kind: Kind::BadRequest | Kind::Conflict, message: Message::Whole(text), ..
        }
        | Error { kind: Kind::Forbidden, message: Message::Reason(text), .. } => text.clone(),
        Error { kind: Kind::Forbidden, .. } => {
            "You are not allowed to push to this project.".to_owned()
        }
        gone if gone.is_gone() => "There is no such project, or you may not see it.".to_owned(),
        other => {
            tracing::error!(error = %other, details = ?other, "a push could not be decided");
            "Something failed in the server. Please try again.".to_owned()
        }
    }
}
