//! Registering, verifying and removing a runner.

use std::thread::sleep;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::client::{Client, Content};

/// The attributes of a runner to register.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Registration {
    pub(crate) token: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) tag_list: String,
    pub(crate) run_untagged: bool,
    pub(crate) locked: bool,
    pub(crate) paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) maximum_timeout: Option<u64>,
}

/// The server's response to a registration.
#[derive(Deserialize)]
pub(crate) struct RegisteredRunner {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) token: Option<String>,
}

impl Client {
    /// Registers with a registration token.
    pub(crate) fn register(&self, registration: &Registration) -> Result<RegisteredRunner> {
        let mut body = serde_json::to_value(registration)?;
        body["info"] = self.info();
        let answer = self.send("POST", "/runners", &[], &Content::Json(&body), &sleep)?;
        match answer.status {
            201 => answer.json(),
            403 => bail!("the server does not know this registration token"),
            _ => bail!("the server refused the registration: {}", answer.message()),
        }
    }

    /// Asks whether the server knows this client's token; `None` where it does not.
    pub(crate) fn verify(&self) -> Result<Option<RegisteredRunner>> {
        let body = json!({ "token": self.token, "system_id": self.system_id, "info": self.info() });
        let answer = self.send("POST", "/runners/verify", &[], &Content::Json(&body), &sleep)?;
        match answer.status {
            // Old servers say nothing but that it is so.
            200 => Ok(Some(answer.json().unwrap_or(RegisteredRunner { id: 0, token: None }))),
            403 => Ok(None),
            _ => bail!("the server did not verify the token: {}", answer.message()),
        }
    }

    /// Removes the runner, or only this program of it where its token was made by a person.
    pub(crate) fn unregister(&self) -> Result<()> {
        let (path, body) = match self.token.starts_with("glrt-") {
            true => {
                ("/runners/managers", json!({ "token": self.token, "system_id": self.system_id }))
            }
            false => ("/runners", json!({ "token": self.token })),
        };
        let answer = self.send("DELETE", path, &[], &Content::Json(&body), &sleep)?;
        match answer.status {
            // 404: this program has never asked for a job.
            200 | 204 | 404 => Ok(()),
            403 => bail!("the server does not know this runner any more"),
            _ => bail!("the server did not remove the runner: {}", answer.message()),
        }
    }
}
