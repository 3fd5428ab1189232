//! Issues of Jira that commits and merge requests name: they are told of it, and moved on where they are solved.

use admin::{
    flags::Flag,
    integration::{Integration, Values},
};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};

use super::{below, external::keys, is_on, text};

/// Issues that one event tells.
const MOST_KEYS: usize = 20;
/// Words before issues that are solved.
const SOLVING: [&str; 15] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "resolving",
    "implement",
    "implements",
    "implemented",
];

/// The Jira server, and its settings.
#[derive(Clone, Debug)]
pub(crate) struct JiraServer {
    base: String,
    pub(crate) authorization: String,
    pub(crate) comments: bool,
    pub(crate) transition: Transition,
}

/// The transition of a Jira issue when it is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transition {
    Never,
    /// By the first way to a state that is done.
    Automatic,
    /// By these ways, one after the other.
    Ways(Vec<String>),
}

/// The comment for a mentioned Jira issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) key: String,
    /// Of the commit or merge request.
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) comment: String,
    pub(crate) is_solved: bool,
}

impl JiraServer {
    pub(crate) fn new(row: &Integration, values: &Values) -> Option<Self> {
        let base = text(values, "api_url").or(text(values, "url"))?.to_owned();
        let person = format!("{}:{}", text(values, "username")?, text(values, "password")?);
        let ways = text(values, "jira_issue_transition_id").unwrap_or_default();
        let ways = ways.split([',', ';']).map(str::trim).filter(|id| is_number(id));
        let ways: Vec<String> = ways.map(str::to_owned).collect();
        let transition = match (is_on(values, "jira_issue_transition_automatic"), ways.is_empty()) {
            (true, _) => Transition::Automatic,
            (false, false) => Transition::Ways(ways),
            (false, true) => Transition::Never,
        };
        Some(Self {
            base,
            authorization: format!("Basic {}", BASE64.encode(person)),
            comments: row.flags.has(Flag::Comments),
            transition,
        })
    }

    /// Of an issue, or of what belongs to it.
    pub(crate) fn address(&self, key: &str, path: &str) -> String {
        below(&self.base, &format!("rest/api/2/issue/{key}{path}"))
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What of an event Jira is told.
pub(crate) fn mentions(payload: &Value) -> Vec<Mention> {
    let mut all = match payload["object_kind"].as_str() {
        Some("push") => of_commits(payload),
        Some("merge_request") => of_merge_request(payload),
        _ => Vec::new(),
    };
    all.truncate(MOST_KEYS);
    all
}

fn of_commits(payload: &Value) -> Vec<Mention> {
    let branch = payload["ref"].as_str().and_then(|name| name.strip_prefix("refs/heads/"));
    let Some(branch) = branch else { return Vec::new() };
    let is_default = payload["project"]["default_branch"].as_str() == Some(branch);
    let user = payload["user_name"].as_str().unwrap_or("Somebody");
    let commits = payload["commits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut all = Vec::new();
    for commit in commits {
        let message = commit["message"].as_str().unwrap_or_default();
        let (solved, title) = (solved(message), commit["title"].as_str().unwrap_or_default());
        for key in keys(message) {
            let is_solved = is_default && solved.contains(&key);
            let thing = ("commit", commit["url"].as_str().unwrap_or_default(), title);
            all.push(mention(payload, (key, is_solved), (user, thing), Some(branch)));
        }
    }
    all
}

fn of_merge_request(payload: &Value) -> Vec<Mention> {
    let attributes = &payload["object_attributes"];
    let word = |name: &str| attributes[name].as_str().unwrap_or_default();
    let is_told = matches!(word("action"), "open" | "update" | "reopen" | "merge");
    if !is_told {
        return Vec::new();
    }
    let user = payload["user"]["name"].as_str().unwrap_or("Somebody");
    let message = format!("{}\n{}", word("title"), word("description"));
    let is_default = attributes["target_branch"] == payload["project"]["default_branch"];
    let solved = match word("action") == "merge" && is_default {
        true => solved(&message),
        false => Vec::new(),
    };
    let thing = ("merge request", word("url"), word("title"));
    let told = keys(&message).into_iter().map(|key| {
        let is_solved = solved.contains(&key);
        mention(payload, (key, is_solved), (user, thing), None)
    });
    told.collect()
}

fn mention(
    payload: &Value,
    (key, is_solved): (String, bool),
    (user, (kind, url, title)): (&str, (&str, &str, &str)),
    branch: Option<&str>,
) -> Mention {
    let project = &payload["project"];
    let path = project["path_with_namespace"].as_str().unwrap_or_default();
    let home = project["web_url"].as_str().unwrap_or_default();
    let branch = branch.map(|name| format!(" on branch {}", plain(name))).unwrap_or_default();
    Mention {
        key,
        is_solved,
        comment: format!(
            "{} mentioned this issue in [a {kind}|{url}] of [{}|{home}]{branch}:{{quote}}{}{{quote}}",
            plain(user),
            plain(path),
            plain(title),
        ),
        url: url.to_owned(),
        title: format!("{} - {title}", if kind == "commit" { "Commit" } else { "Merge request" }),
    }
}

/// Text that stands for itself in Jira's markup.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        if "{}[]|!\\".contains(sign) {
            safe.push('\\');
        }
        safe.push(if sign.is_control() { ' ' } else { sign });
    }
    safe
}

/// The issues that a message says are solved: those behind a word for it.
fn solved(message: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_open = false;
    for word in message.split_whitespace() {
        let bare = word.trim_end_matches([':', ',', '.', ';']);
        let of_word = keys(bare);
        if SOLVING.iter().any(|one| bare.eq_ignore_ascii_case(one)) {
            is_open = true;
        } else if is_open && !of_word.is_empty() {
            found.extend(of_word);
        } else if !["and", "&", "issue", "issues", "#"].contains(&bare.to_lowercase().as_str()) {
            is_open = false;
        }
    }
    found
}

/// A link from the issue; sent again it changes nothing.
pub(crate) fn remote_link(mention: &Mention) -> Value {
    json!({
        "globalId": mention.url,
        "application": { "name": "Forgeway" },
        "relationship": "mentioned on",
        "object": { "url": mention.url, "title": mention.title, "status": { "resolved": false } },
    })
}

/// The first way to a state that is done and asks for nothing.
pub(crate) fn way_out(transitions: &Value) -> Option<&str> {
    let all = transitions["transitions"].as_array()?;
    let asks = |way: &Value| {
        let fields = way["fields"].as_object();
        fields.is_some_and(|fields| fields.values().any(|field| field["required"] == true))
    };
    let found =
        all.iter().find(|way| way["to"]["statusCategory"]["key"] == "done" && !asks(way))?;
    found["id"].as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{mentions, plain, solved, way_out};

    #[test]
    fn commits_tell_the_issues_that_they_name() {
        let commit =
            |message: &str| json!({ "message": message, "title": message, "url": "http://f/c" });
        let mut payload = json!({
            "object_kind": "push", "ref": "refs/heads/main", "user_name": "Ada",
            "project": { "path_with_namespace": "a/b", "web_url": "http://f/a/b", "default_branch": "main" },
            "commits": [commit("Fixes AB-1, AB-2 and see AB-3"), commit("none")],
        });
        let told = |payload: &Value| -> Vec<(String, bool)> {
            mentions(payload).into_iter().map(|one| (one.key, one.is_solved)).collect()
        };
        let pair = |key: &str, is_solved| (key.to_owned(), is_solved);
        assert_eq!(told(&payload), [pair("AB-1", true), pair("AB-2", true), pair("AB-3", false)]);
        let comment = "Ada mentioned this issue in [a commit|http://f/c] of [a/b|http://f/a/b] on branch main:\
                       {quote}Fixes AB-1, AB-2 and see AB-3{quote}";
        assert_eq!(mentions(&payload)[0].comment, comment);
        payload["ref"] = json!("refs/heads/dev");
        assert!(told(&payload).iter().all(|(_, is_solved)| !is_solved));
    }

    #[test]
    fn a_merge_solves_what_its_description_says() {
        let mut payload = json!({
            "object_kind": "merge_request", "user": { "name": "Ada" },
            "project": { "path_with_namespace": "a/b", "web_url": "http://f/a/b", "default_branch": "main" },
            "object_attributes": { "title": "AB-1", "description": "Closes: AB-2", "action": "merge",
                                   "target_branch": "main", "url": "http://f/m" },
        });
        let solved: Vec<bool> = mentions(&payload).into_iter().map(|one| one.is_solved).collect();
        assert_eq!(solved, [false, true]);
        payload["object_attributes"]["action"] = json!("approved");
        assert!(mentions(&payload).is_empty());
    }

    #[test]
    fn words_solve_only_the_issues_right_behind_them() {
        assert_eq!(solved("Resolve AB-1 and AB-2, AB-3. But AB-4"), ["AB-1", "AB-2", "AB-3"]);
        assert_eq!(solved("prefixes AB-1; see AB-2"), [""; 0]);
    }

    #[test]
    fn text_of_others_makes_no_markup() {
        assert_eq!(plain("{quote}[x|y]"), "\\{quote\\}\\[x\\|y\\]");
    }

    #[test]
    fn an_issue_goes_where_it_is_done_and_nothing_is_asked() {
        let to = |key: &str| json!({ "statusCategory": { "key": key } });
        let all = json!({ "transitions": [
            { "id": "1", "to": to("new") },
            { "id": "2", "to": to("done"), "fields": { "resolution": { "required": true } } },
            { "id": "3", "to": to("done"), "fields": {} },
        ] });
        assert_eq!(way_out(&all), Some("3"));
        assert_eq!(way_out(&json!({})), None);
    }
}
