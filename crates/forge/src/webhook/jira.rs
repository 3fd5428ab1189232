//! Deliveries to Jira: several requests, each of which changes nothing when it is made again.

use std::time::{Duration, Instant};

use outbound::{Client, Exchange, FetchError, FetchLimits, Post};
use serde_json::{Value, json};

use crate::integration::jira::{JiraServer, Mention, Transition, remote_link, way_out};

/// How long Jira may take for one request, and for all of a delivery: less than the lease.
const PATIENCE: Duration = Duration::from_secs(10);
const BUDGET: Duration = Duration::from_secs(60);
/// Bytes of an answer.
const LARGEST: u64 = 2 << 20;

/// Reasons for which Jira could not be notified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JiraFailure {
    /// It may hear of it later.
    Later(String),
    /// It wants to hear nothing of it.
    Refused(u16),
}

/// One delivery under way.
pub(super) struct JiraSession<'a> {
    client: &'a Client,
    server: &'a JiraServer,
    end: Instant,
}

impl<'a> JiraSession<'a> {
    pub(super) fn new(client: &'a Client, server: &'a JiraServer) -> Self {
        Self { client, server, end: Instant::now() + BUDGET }
    }

    /// Tells all issues. Blocks. An issue that is not there is left out.
    pub(super) fn tell(&self, mentions: &[Mention]) -> Result<(), JiraFailure> {
        for mention in mentions {
            match self.tell_one(mention) {
                Err(JiraFailure::Refused(404)) => {}
                told => told?,
            }
        }
        Ok(())
    }

    fn tell_one(&self, mention: &Mention) -> Result<(), JiraFailure> {
        let issue = self.get(&mention.key, "?fields=comment,resolution")?;
        if self.server.comments && !has_comment(&issue, &mention.url) {
            self.post(&mention.key, "/comment", &json!({ "body": mention.comment }))?;
        }
        self.post(&mention.key, "/remotelink", &remote_link(mention))?;
        if mention.is_solved && issue["fields"]["resolution"].is_null() {
            self.move_on(mention)?;
        }
        Ok(())
    }

    fn move_on(&self, mention: &Mention) -> Result<(), JiraFailure> {
        let ways = match &self.server.transition {
            Transition::Never => return Ok(()),
            Transition::Ways(ways) => ways.clone(),
            Transition::Automatic => {
                let all = self.get(&mention.key, "/transitions?expand=transitions.fields")?;
                way_out(&all).map(str::to_owned).into_iter().collect()
            }
        };
        for way in ways {
            match self.post(&mention.key, "/transitions", &json!({ "transition": { "id": way } })) {
                // There is no such way from where the issue is.
                Err(JiraFailure::Refused(400 | 409)) => return Ok(()),
                moved => moved?,
            }
        }
        Ok(())
    }

    fn left(&self) -> Result<Duration, JiraFailure> {
        let left = self.end.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(JiraFailure::Later("it took too long".to_owned())),
            false => Ok(left.min(PATIENCE)),
        }
    }

    fn headers(&self) -> Vec<(String, String)> {
        [
            ("Authorization", self.server.authorization.as_str()),
            ("Content-Type", "application/json"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn get(&self, key: &str, path: &str) -> Result<Value, JiraFailure> {
        let (url, headers) = (self.server.address(key, path), self.headers());
        let limits = FetchLimits { bytes: LARGEST, time: self.left()? };
        let request = Exchange { method: "GET", url: &url, headers: &headers, body: b"", limits };
        let mut body = Vec::new();
        let head = self.client.exchange(&request, &mut body).map_err(failed)?;
        judged(head.status)?;
        serde_json::from_slice(&body).map_err(|_odd| JiraFailure::Refused(head.status))
    }

    fn post(&self, key: &str, path: &str, body: &Value) -> Result<(), JiraFailure> {
        let (url, headers, body) =
            (self.server.address(key, path), self.headers(), body.to_string());
        let (body, time) = (body.as_bytes(), self.left()?);
        let post = Post { method: "POST", url: &url, headers: &headers, body, verify: true, time };
        judged(self.client.send(&post).map_err(failed)?.status)
    }
}

fn failed(cause: FetchError) -> JiraFailure {
    match cause {
        FetchError::Refused(_) | FetchError::TooLarge => JiraFailure::Refused(0),
        cause => JiraFailure::Later(cause.to_string()),
    }
}

fn judged(status: u16) -> Result<(), JiraFailure> {
    match status {
        200..300 => Ok(()),
        429 | 500.. => Err(JiraFailure::Later(format!("status {status}"))),
        status => Err(JiraFailure::Refused(status)),
    }
}

/// Whether somebody has already said it: as written, or as Jira shows it.
fn has_comment(issue: &Value, url: &str) -> bool {
    let all = issue["fields"]["comment"]["comments"].as_array();
    let said = |comment: &Value| comment["body"].as_str().is_some_and(|body| body.contains(url));
    all.is_some_and(|all| all.iter().any(said))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{JiraFailure, has_comment, judged};

    #[test]
    fn what_was_said_is_not_said_again() {
        let issue =
            json!({ "fields": { "comment": { "comments": [{ "body": "see [x|http://f/1]" }] } } });
        assert!(has_comment(&issue, "http://f/1") && !has_comment(&issue, "http://f/2"));
        assert!(!has_comment(&json!({}), "http://f/1"));
    }

    #[test]
    fn busy_servers_are_told_later_and_others_not_again() {
        assert_eq!((judged(201), judged(404)), (Ok(()), Err(JiraFailure::Refused(404))));
        assert!([429, 500, 503].iter().all(|it| matches!(judged(*it), Err(JiraFailure::Later(_)))));
    }
}
