//! Applications that act for people by OAuth.

use org::{application::Application, token::Secret};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct ApplicationEntity {
    id: i64,
    /// What the application sends as `client_id`.
    application_id: String,
    application_name: String,
    /// Where people may be sent back to: one or more URLs, with white space between.
    callback_url: String,
    /// Whether the application can keep its secret, and has to show it.
    confidential: bool,
}

impl From<Application> for ApplicationEntity {
    fn from(application: Application) -> Self {
        Self {
            id: application.id.0,
            application_id: application.uid,
            application_name: application.name,
            callback_url: application.redirect_uri,
            confidential: application.confidential,
        }
    }
}

/// A new application with its secret, which is shown this once.
#[derive(Debug, Serialize, ToSchema)]
pub struct NewApplicationEntity {
    #[serde(flatten)]
    application: ApplicationEntity,
    /// What the application sends as `client_secret`.
    secret: String,
}

impl NewApplicationEntity {
    pub fn new(application: Application, secret: &Secret) -> Self {
        Self { application: application.into(), secret: secret.reveal().to_owned() }
    }
}
