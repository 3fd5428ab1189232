//! Trackers elsewhere: what was pushed, and what it names.

use admin::integration::Values;
use serde_json::{Value, json};

use super::{Message, encoded, text};

/// Messages that one push leads to.
const MOST_MESSAGES: usize = 100;
/// The key under which a part of a push names the one task that it is for.
const TASK: &str = "task";
/// The beginning of the address of a task.
const TASKS: &str = "https://app.asana.com/";

/// The parts of a push that a tracker is told one by one: each commit, or each task that a commit names. None for a tracker that
/// is told all of a push at once, and of what is such a part.
pub(super) fn parts(slug: &str, payload: &Value) -> Vec<Value> {
    let mut common = payload.as_object().cloned().unwrap_or_default();
    let Some(Value::Array(commits)) = common.remove("commits") else { return Vec::new() };
    let part = |commit: &Value, task: Option<&str>| {
        let mut part = common.clone();
        part.insert("commits".to_owned(), json!([commit]));
        if let Some(task) = task {
            part.insert(TASK.to_owned(), json!(task));
        }
        Value::Object(part)
    };
    match slug {
        "asana" if !common.contains_key(TASK) => {
            let named = commits.iter().flat_map(|commit| {
                let tasks = tasks_in(commit["message"].as_str().unwrap_or_default());
                tasks.into_iter().map(move |task| (commit, task))
            });
            named.take(MOST_MESSAGES).map(|(commit, task)| part(commit, Some(task))).collect()
        }
        "pivotaltracker" => commits.iter().map(|commit| part(commit, None)).collect(),
        _ => Vec::new(),
    }
}

/// What a tracker is sent of a push, or of a part of it.
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

/// A comment on a task: that of the part of a push, else the first that a commit names as `#123` or by its address.
fn asana(values: &Values, payload: &Value) -> Option<Message> {
    let mut commits = payload["commits"].as_array()?.iter();
    let (commit, task) = match payload[TASK].as_str() {
        Some(task) => (commits.next()?, task),
        None => commits.find_map(|commit| {
            let first = tasks_in(commit["message"].as_str()?).into_iter().next();
            first.map(|task| (commit, task))
        })?,
    };
    let branch = payload["ref"].as_str()?.strip_prefix("refs/heads/")?;
    let user = payload["user_name"].as_str().unwrap_or_default();
    let project = payload["project"]["path_with_namespace"].as_str().unwrap_or_default();
    let (url, words) = (commit["url"].as_str()?, commit["message"].as_str()?);
    let comment = format!("{user} pushed to branch {branch} of {project} ( {url} ): {words}");
    let to = format!("https://app.asana.com/api/1.0/tasks/{task}/stories");
    let message = Message::json(to, &json!({ "data": { "text": comment } }));
    Some(message.header("Authorization", format!("Bearer {}", text(values, "api_key")?)))
}

/// The numbers of the tasks that a message names, each once and in order; [`MOST_MESSAGES`] at most.
fn tasks_in(message: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for word in message.split_whitespace() {
        let tasks: Vec<&str> = match word.split_once(TASKS) {
            // The last number is that of the task, whatever view of it the address shows.
            Some((_, path)) => path.split('/').filter_map(number).next_back().into_iter().collect(),
            None => word.split('#').skip(1).filter_map(number).collect(),
        };
        for task in tasks {
            if found.len() < MOST_MESSAGES && !found.contains(&task) {
                found.push(task);
            }
        }
    }
    found
}

/// The number that a text begins with.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    (1..=20).contains(&end).then(|| &text[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{message, parts, tasks_in};

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
    fn tasks_are_named_by_their_numbers_or_addresses_each_once() {
        assert_eq!(tasks_in("Fixes #123, and #4 (see #123,#5)"), ["123", "4", "5"]);
        let addresses = "https://app.asana.com/0/11/22/f, <https://app.asana.com/1/9/project/8/task/33?focus=1>";
        assert_eq!(tasks_in(addresses), ["22", "33"]);
        assert!(tasks_in("# nothing #x https://app.asana.com/").is_empty());
    }

    #[test]
    fn each_commit_and_each_task_that_it_names_is_told_by_a_message_of_its_own() {
        let commit = |id: &str, message: &str| json!({ "id": id, "url": id, "message": message });
        let mut push = push();
        push["commits"] = json!([commit("1", "See #4, #5 and #4"), commit("2", "Fix #5")]);
        let values = json!({ "api_key": "k", "token": "t" });
        let told = |slug: &str| -> Vec<(String, String)> {
            let parts = parts(slug, &push).into_iter();
            let told = parts.map(|part| message(slug, values.as_object().unwrap(), &part).unwrap());
            told.map(|sent| (sent.url, sent.body)).collect()
        };
        let tasks = told("asana").into_iter().map(|(url, body)| {
            let task = url.split('/').nth_back(1).unwrap_or_default().to_owned();
            (task, body.contains("( 1 )"))
        });
        let first = |task: &str| (task.to_owned(), true);
        assert_eq!(tasks.collect::<Vec<_>>(), [first("4"), first("5"), ("5".to_owned(), false)]);
        assert_eq!(told("pivotaltracker").len(), 2);
        assert!(told("assembla").is_empty(), "it is told all at once");
        assert!(parts("asana", &parts("asana", &push)[0]).is_empty(), "a part has no parts");
    }
}
