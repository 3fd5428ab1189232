//! Chat rooms: one line for people about what happened. Titles, names and comments come from whoever may write them, so nothing in
//! them means more than its letters: no link that shows another address than its own, and no call to a whole room.

use admin::{flags::Flag, integration::Values};
use serde_json::{Value, json};

use super::{Message, text};

pub(super) fn message(slug: &str, values: &Values, flag: Flag, payload: &Value) -> Option<Message> {
    let url = text(values, "webhook")?.to_owned();
    let line = line(payload, Markup::of(slug))?;
    let body = match slug {
        "discord" => json!({ "content": line, "allowed_mentions": { "parse": [] } }),
        "webex-teams" => json!({ "markdown": line }),
        "unify-circuit" => {
            json!({ "subject": payload["project"]["path_with_namespace"], "text": line, "markdown": true })
        }
        "microsoft-teams" => json!({
            "@type": "MessageCard", "@context": "http://schema.org/extensions",
            "summary": line, "text": line,
        }),
        "slack" | "mattermost" => with_room(values, flag, &line),
        _ => json!({ "text": line }),
    };
    Some(Message::json(url, &body))
}

fn with_room(values: &Values, flag: Flag, line: &str) -> Value {
    let mut body = json!({ "text": line });
    let name = match flag {
        Flag::Push => "push_channel",
        Flag::Issues => "issue_channel",
        Flag::ConfidentialIssues => "confidential_issue_channel",
        Flag::MergeRequests => "merge_request_channel",
        Flag::Notes => "note_channel",
        Flag::ConfidentialNotes => "confidential_note_channel",
        Flag::TagPush => "tag_push_channel",
        Flag::Pipelines => "pipeline_channel",
        Flag::WikiPages => "wiki_page_channel",
        // Other events have no room of their own.
        _ => "channel",
    };
    if let Some(room) = text(values, name).or(text(values, "channel")) {
        body["channel"] = json!(room);
    }
    if let Some(username) = text(values, "username") {
        body["username"] = json!(username);
    }
    body
}

/// How a receiver writes a link, and which signs mean something to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// `[words](address)`
    Markdown,
    /// `<address|words>`; `<!channel>` calls everybody.
    Angles,
    /// `<a href="address">words</a>`
    Html,
}

impl Markup {
    fn of(slug: &str) -> Self {
        match slug {
            "slack" | "hangouts-chat" => Self::Angles,
            _ => Self::Markdown,
        }
    }

    /// A text that means no more than its letters.
    fn plain(self, text: &str) -> String {
        match self {
            Self::Angles => escaped_angles(text),
            Self::Html => markup::escaped_html(text),
            Self::Markdown => escaped_markdown(text),
        }
    }

    fn link(self, words: &str, url: &str) -> String {
        let words = words.replace(['[', ']', '|', '\n', '\r'], " ");
        match self {
            Self::Angles => format!("<{url}|{}>", self.plain(&words)),
            Self::Markdown => format!("[{}]({url})", self.plain(&words)),
            Self::Html => format!("<a href=\"{}\">{}</a>", self.plain(url), self.plain(&words)),
        }
    }
}

/// A text in which no angle begins a link or a mention. Receivers of [`Markup::Angles`] know these three entities alone
/// and show any other as it is written.
fn escaped_angles(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Markdown in which nothing begins a link or a mention.
fn escaped_markdown(text: &str) -> String {
    let mut all = String::with_capacity(text.len() + 8);
    for sign in text.chars() {
        if matches!(sign, '[' | ']' | '<' | '\\') {
            all.push('\\');
        }
        all.push(sign);
        if sign == '@' {
            // A sign without width keeps `@all` and its like from being a name.
            all.push('\u{200b}');
        }
    }
    all
}

/// One line about what happened.
pub(super) fn line(payload: &Value, markup: Markup) -> Option<String> {
    let project = &payload["project"];
    let home = markup.link(project["path_with_namespace"].as_str()?, project["web_url"].as_str()?);
    let attributes = &payload["object_attributes"];
    let user = payload["user"]["name"].as_str().or(payload["user_name"].as_str());
    let user = markup.plain(user.unwrap_or("Somebody"));
    let titled = |sign: char| {
        let title = attributes["title"].as_str().unwrap_or_default();
        let number = format!("{sign}{} {title}", attributes["iid"]);
        markup.link(&number, attributes["url"].as_str().unwrap_or_default())
    };
    Some(match payload["object_kind"].as_str()? {
        "push" | "tag_push" => pushed(payload, markup, &user, &home),
        "issue" => {
            let done = past(attributes["action"].as_str());
            format!("{user} {done} issue {} in {home}", titled('#'))
        }
        "merge_request" => {
            let done = past(attributes["action"].as_str());
            format!("{user} {done} merge request {} in {home}", titled('!'))
        }
        "note" => {
            let place = markup.link("commented", attributes["url"].as_str()?);
            let words: String = attributes["note"].as_str()?.chars().take(300).collect();
            format!("{user} {place} in {home}: {}", markup.plain(&words))
        }
        "pipeline" => {
            let number = format!("#{}", attributes["id"]);
            let place = markup.link(&number, attributes["url"].as_str().unwrap_or_default());
            let (branch, status) = (attributes["ref"].as_str()?, attributes["status"].as_str()?);
            let branch = markup.plain(branch);
            format!("{home}: Pipeline {place} of {branch} by {user} {}", ended(status))
        }
        "wiki_page" => {
            let page = markup.link(attributes["title"].as_str()?, attributes["url"].as_str()?);
            format!("{user} {} wiki page {page} in {home}", past(attributes["action"].as_str()))
        }
        "alert" => {
            let alert = markup.link(attributes["title"].as_str()?, attributes["url"].as_str()?);
            let severity = attributes["severity"].as_str()?;
            format!("{home}: Alert {alert} of severity {severity} was triggered")
        }
        "deployment" => {
            let (place, status) = (payload["environment"].as_str()?, payload["status"].as_str()?);
            format!("{home}: Deployment to {} by {user}: {status}", markup.plain(place))
        }
        _ => return None,
    })
}

fn pushed(payload: &Value, markup: Markup, user: &str, home: &str) -> String {
    let name = payload["ref"].as_str().unwrap_or_default();
    let (kind, name) = match name.strip_prefix("refs/tags/") {
        Some(name) => ("tag", name),
        None => ("branch", name.strip_prefix("refs/heads/").unwrap_or(name)),
    };
    let is_none = |key: &str| payload[key].as_str().is_some_and(|id| id.bytes().all(|b| b == b'0'));
    let done = match (is_none("before"), is_none("after")) {
        (_, true) => "removed",
        (true, false) => "pushed new",
        (false, false) => "pushed to",
    };
    let mut text = format!("{user} {done} {kind} {} of {home}", markup.plain(name));
    for commit in payload["commits"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let id: String = commit["id"].as_str().unwrap_or_default().chars().take(8).collect();
        let commit_link = markup.link(&id, commit["url"].as_str().unwrap_or_default());
        let title = markup.plain(commit["title"].as_str().unwrap_or_default());
        text.push_str(&format!("\n{commit_link}: {title}"));
    }
    text
}

fn past(action: Option<&str>) -> &'static str {
    match action {
        Some("open") => "opened",
        Some("close") => "closed",
        Some("reopen") => "reopened",
        Some("merge") => "merged",
        Some("approved" | "approval") => "approved",
        Some("unapproved" | "unapproval") => "unapproved",
        Some("create") => "created",
        Some("delete") => "deleted",
        _ => "updated",
    }
}

fn ended(status: &str) -> &'static str {
    if status == "success" { "passed" } else { "failed" }
}

#[cfg(test)]
mod tests {
    use admin::flags::Flag;
    use serde_json::{Value, json};

    use super::{Markup, line, message};

    fn pipeline(status: &str) -> Value {
        json!({
            "object_kind": "pipeline", "user": { "name": "Ada" },
            "project": { "path_with_namespace": "a/b", "web_url": "http://f/a/b" },
            "object_attributes": { "id": 3, "ref": "main", "status": status, "url": "http://f/3" },
        })
    }

    #[test]
    fn a_line_says_what_happened_and_where() {
        let Value::Object(values) = json!({ "webhook": "https://c/x" }) else { return };
        let sent = message("pumble", &values, Flag::Pipelines, &pipeline("failed")).unwrap();
        assert_eq!(sent.url, "https://c/x");
        let line =
            r#"{"text":"[a/b](http://f/a/b): Pipeline [#3](http://f/3) of main by Ada failed"}"#;
        assert_eq!(sent.body, line);
    }

    #[test]
    fn what_people_write_is_neither_a_link_nor_a_call_to_everybody() {
        let Value::Object(values) = json!({ "webhook": "https://c/x" }) else { return };
        let mut note = pipeline("failed");
        note["object_kind"] = json!("note");
        note["object_attributes"]["note"] =
            json!("<!channel> [x](http://evil) @all <http://evil|x>");
        let said = |slug: &str| message(slug, &values, Flag::Notes, &note).unwrap().body;

        let slack = said("slack");
        assert!(slack.contains("<http://f/3|commented> in <http://f/a/b|a/b>: &lt;!channel&gt;"));
        assert!(slack.contains("&lt;http://evil|x&gt;"), "{slack}");
        let room = said("mattermost");
        assert!(room.contains("\\\\<!channel> \\\\[x\\\\](http://evil) @\u{200b}all"), "{room}");
        assert!(said("discord").contains(r#""allowed_mentions":{"parse":[]}"#));
    }

    #[test]
    fn a_name_is_shown_by_the_signs_that_its_receiver_knows() {
        let mut ended = pipeline("failed");
        ended["user"]["name"] = json!("O'Neil \"<&>\"");
        let by = |markup| {
            let line = line(&ended, markup).unwrap();
            line.split_once(" by ").unwrap().1.strip_suffix(" failed").unwrap().to_owned()
        };
        assert_eq!(by(Markup::Angles), "O'Neil \"&lt;&amp;&gt;\"");
        assert_eq!(by(Markup::Html), "O&#39;Neil &quot;&lt;&amp;&gt;&quot;");
        assert_eq!(by(Markup::Markdown), "O'Neil \"\\<&>\"");
    }
}
