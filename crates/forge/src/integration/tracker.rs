//! Trackers elsewhere: what was pushed, and what it names.

use admin::integration::Values;
use serde_json::{Value, json};

use super::{Message, encoded, text};

pub(super) fn message(slug: &str, values: &Values, payload: &Value) -> Option<Message> {
    match slug {
        "assembla" => {
            let subdomain = text(values, "subdomain").unwrap_or("atlas");
            let token = encoded(text(values, "token")?);
            let url = format!(
                "https://{subdomain}.assembla.com/spaces/ouposp/github_tool?secret_key={token}"
            );
            Some(Message::json(url, &json!({ "payload": payload })))
        }
        "pivotaltracker" => {
            let commit = payload["commits"].as_array()?.iter().next_back()?;
            let body = json!({ "source_commit": {
                "commit_id": commit["id"],
                "author": commit["author"]["name"],
                "url": commit["url"],
                "message": commit["message"],
            } });
            let url = "https://www.pivotaltracker.com/services/v5/source_commits".to_owned();
            let message = Message::json(url, &body);
            Some(message.header("X-TrackerToken", text(values, "token")?.to_owned()))
        }
        "asana" => asana(values, payload),
        _ => None,
    }
}

/// A comment on the first task that a commit names, as `#123` or by its address.
fn asana(values: &Values, payload: &Value) -> Option<Message> {
    let (commit, task) = payload["commits"]
        .as_array()?
        .iter()
        .find_map(|commit| Some((commit, task_in(commit["message"].as_str()?)?)))?;
    let branch = payload["ref"].as_str()?.strip_prefix("refs/heads/")?;
    let user = payload["user_name"].as_str().unwrap_or_default();
    let project = payload["project"]["path_with_namespace"].as_str().unwrap_or_default();
    let (url, words) = (commit["url"].as_str()?, commit["message"].as_str()?);
    let comment = format!("{user} pushed to branch {branch} of {project} ( {url} ): {words}");
    let to = format!("https://app.asana.com/api/1.0/tasks/{task}/stories");
    let message = Message::json(to, &json!({ "data": { "text": comment } }));
    Some(message.header("Authorization", format!("Bearer {}", text(values, "api_key")?)))
}

/// The number of the first task that a message names.
fn task_in(message: &str) -> Option<&str> {
    let digits = |text: &str| text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    for (at, sign) in message.char_indices() {
        let rest = &message[at..];
        let (number, least) = match sign {
            '#' => (&rest[1..], 1),
            'h' if rest.starts_with("https://app.asana.com/") => {
                let path = rest.split_whitespace().next().unwrap_or_default();
                (path.trim_end_matches("/f").rsplit('/').next().unwrap_or_default(), 1)
            }
            _ => continue,
        };
        let end = digits(number);
        if end >= least && end <= 20 {
            return Some(&number[..end]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{message, task_in};

    fn push() -> Value {
        json!({
            "object_kind": "push", "ref": "refs/heads/main", "user_name": "Ada",
            "project": { "path_with_namespace": "a/b" },
            "commits": [{ "id": "1a", "url": "http://f/1a", "message": "Fixes #12",
                          "author": { "name": "Bob" } }],
        })
    }

    #[test]
    fn a_tracker_is_told_what_commits_name() {
        let sent = |slug: &str, values: Value| {
            let sent = message(slug, values.as_object().unwrap(), &push()).unwrap();
            (sent.url, sent.headers, serde_json::from_str::<Value>(&sent.body).unwrap())
        };
        let (url, headers, body) = sent("asana", json!({ "api_key": "k" }));
        assert_eq!(url, "https://app.asana.com/api/1.0/tasks/12/stories");
        assert_eq!(headers, [("Authorization".to_owned(), "Bearer k".to_owned())]);
        let words = "Ada pushed to branch main of a/b ( http://f/1a ): Fixes #12";
        assert_eq!(body, json!({ "data": { "text": words } }));
        let (url, _, body) = sent("assembla", json!({ "token": "t&x", "subdomain": "crew" }));
        let expected = "https://crew.assembla.com/spaces/ouposp/github_tool?secret_key=t%26x";
        assert_eq!((url.as_str(), &body["payload"]["ref"]), (expected, &json!("refs/heads/main")));
        let (_, headers, body) = sent("pivotaltracker", json!({ "token": "t" }));
        assert_eq!(headers, [("X-TrackerToken".to_owned(), "t".to_owned())]);
        assert_eq!(body["source_commit"]["commit_id"], "1a");
    }

    #[test]
    fn a_task_is_named_by_its_number_or_address() {
        assert_eq!(task_in("Fixes #123, and #4"), Some("123"));
        assert_eq!(task_in("see https://app.asana.com/0/11/22/f now"), Some("22"));
        assert_eq!(task_in("# nothing"), None);
    }
}
