//! Build servers: what was pushed, as they ask for it.

use admin::integration::Values;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use markup::escaped_html;
use serde_json::{Value, json};

use super::{Message, below, branch, encoded, text};

pub(super) fn message(slug: &str, values: &Values, payload: &Value) -> Option<Message> {
    let given = values.get("enable_ssl_verification").and_then(Value::as_bool);
    let verify = slug == "buildkite" || given.unwrap_or(true);
    let message = match slug {
        "bamboo" => {
            branch(payload)?;
            let key = text(values, "build_key")?;
            let url = below(text(values, "bamboo_url")?, "updateAndBuild.action");
            let url = format!("{url}?buildKey={}&os_authType=basic", encoded(key));
            basic(Message::json(url, &json!({})), values)
        }
        "teamcity" => {
            let url = below(text(values, "teamcity_url")?, "httpAuth/app/rest/buildQueue");
            let name = escaped_html(branch(payload)?);
            let build = escaped_html(text(values, "build_type")?);
            let body = format!("<build branchName=\"{name}\"><buildType id=\"{build}\"/></build>");
            let message = Message { body, ..Message::json(url, &json!({})) };
            basic(message, values).header("Content-Type", "application/xml".to_owned())
        }
        "jenkins" => {
            let project = text(values, "project_name")?;
            let url = below(text(values, "jenkins_url")?, &format!("project/{}", encoded(project)));
            basic(Message::json(url, payload), values)
        }
        "drone-ci" => {
            let path = payload["project"]["path_with_namespace"].as_str()?;
            let (owner, name) = path.rsplit_once('/')?;
            let token = encoded(text(values, "token")?);
            let (owner, name) = (encoded(owner), encoded(name));
            let query = format!("hook?owner={owner}&name={name}&access_token={token}");
            Message::json(below(text(values, "drone_url")?, &query), payload)
        }
        "buildkite" => {
            // A token ends in the key of the webhook.
            let token = text(values, "token")?;
            let key = token.split_once(':').map_or(token, |(key, _)| key);
            let url = format!("https://webhook.buildkite.com/deliver/{}", encoded(key));
            Message::json(url, payload)
        }
        "squash-tm" => {
            let mut url = text(values, "url")?.to_owned();
            if let Some(token) = text(values, "token") {
                let sign = if url.contains('?') { '&' } else { '?' };
                url = format!("{url}{sign}token={}", encoded(token));
            }
            Message::json(url, payload)
        }
        _ => return None,
    };
    Some(message.verifying(verify))
}

fn basic(message: Message, values: &Values) -> Message {
    let Some(username) = text(values, "username") else { return message };
    let password = text(values, "password").unwrap_or_default();
    let person = BASE64.encode(format!("{username}:{password}"));
    message.header("Authorization", format!("Basic {person}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::message;

    #[test]
    fn a_build_server_is_asked_with_its_key_and_password() {
        let push = json!({ "object_kind": "push", "ref": "refs/heads/main" });
        let values = json!({
            "bamboo_url": "https://b.example.com/", "build_key": "FOO-BAR", "username": "ada",
            "password": "x", "enable_ssl_verification": true,
        });
        let Value::Object(values) = values else { return };
        let sent = message("bamboo", &values, &push).unwrap();
        let url =
            "https://b.example.com/updateAndBuild.action?buildKey=FOO%2DBAR&os_authType=basic";
        assert_eq!((sent.url.as_str(), sent.verify), (url, true));
        assert_eq!(sent.headers, [("Authorization".to_owned(), "Basic YWRhOng=".to_owned())]);
        let tag = json!({ "object_kind": "tag_push", "ref": "refs/tags/v1" });
        assert!(message("bamboo", &values, &tag).is_none());
    }

    #[test]
    fn names_of_branches_stay_names_in_xml() {
        let push = json!({ "object_kind": "push", "ref": "refs/heads/a\"b'<&" });
        let values = json!({ "teamcity_url": "https://t.example.com", "build_type": "Bt1" });
        let sent = message("teamcity", values.as_object().unwrap(), &push).unwrap();
        let name = "a&quot;b&#39;&lt;&amp;";
        let body = format!("<build branchName=\"{name}\"><buildType id=\"Bt1\"/></build>");
        assert_eq!(sent.body, body);
    }

    #[test]
    fn a_hosted_service_is_told_with_the_key_of_its_webhook() {
        let push = json!({ "object_kind": "push", "ref": "refs/heads/main" });
        let values = json!({ "token": "k3y:rest", "project_url": "https://buildkite.com/a/b" });
        let sent = message("buildkite", values.as_object().unwrap(), &push).unwrap();
        assert_eq!(sent.url, "https://webhook.buildkite.com/deliver/k3y");
        assert_eq!((sent.verify, sent.body), (true, push.to_string()));
    }

    #[test]
    fn certificates_are_looked_at_unless_somebody_says_otherwise() {
        let push = json!({ "object_kind": "push", "ref": "refs/heads/main" });
        let verifies = |slug: &str, values: Value| {
            message(slug, values.as_object().unwrap(), &push).unwrap().verify
        };
        assert!(verifies("squash-tm", json!({ "url": "https://s.example.com" })));
        let mut jenkins = json!({ "jenkins_url": "https://j.example.com", "project_name": "x" });
        assert!(verifies("jenkins", jenkins.clone()));
        jenkins["enable_ssl_verification"] = json!(false);
        assert!(!verifies("jenkins", jenkins));
    }
}
