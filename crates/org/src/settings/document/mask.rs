//! Values of settings without what URLs in them hide.

use serde_json::Value;

/// Stands for an authority that cannot be told from credentials.
const HIDDEN: &str = "[hidden]";

/// The value with each URL in it as scheme, host, port and path alone.
pub(super) fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains("://") => {
            text.split_inclusive(char::is_whitespace).map(masked_word).collect::<String>().into()
        }
        Value::Array(values) => Value::Array(values.iter().map(masked).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), masked(value)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

/// A word may be a list of URLs. The query or fragment of one hides the rest of the word.
fn masked_word(word: &str) -> String {
    if !word.contains("://") {
        return word.to_owned();
    }
    let (text, blank) = word.split_at(word.trim_end().len());
    let mut parts = text.split(['?', '#']).next().unwrap_or_default().split("://");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['/', '\\']).unwrap_or(part.len());
        let (authority, path) = part.split_at(end);
        masked.push_str("://");
        match host(authority) {
            Some(host) => masked.push_str(host),
            None => {
                masked.push_str(HIDDEN);
                continue;
            }
        }
        // A password with a slash ends in what reads like a path.
        if !path.contains('@') {
            masked.push_str(path);
        }
    }
    masked + blank
}

/// Host and port of an authority; `None` where no number is in the place of the port, as in a password that was cut off.
fn host(authority: &str) -> Option<&str> {
    let host = authority.rsplit('@').next()?;
    let port = match host.rsplit_once(':') {
        Some((_, port)) if !port.contains(']') => port,
        _ => return Some(host),
    };
    let port = port.split([',', ';']).next()?;
    let port = port.trim_end_matches(|sign: char| !sign.is_alphanumeric());
    port.chars().all(|sign| sign.is_ascii_digit()).then_some(host)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::masked;

    #[test]
    fn a_url_is_told_without_credentials_query_and_fragment() {
        for (value, told) in [
            ("http://us:pw@es.example.com:9200", "http://es.example.com:9200"),
            ("https://us:p@w@a.example/path?key=pw#pw", "https://a.example/path"),
            ("http://us:pw@a:1,http://us:pw@b:2/c", "http://a:1,http://b:2/c"),
            ("see https://us:pw@a.example/b?pw\nor ask", "see https://a.example/b\nor ask"),
            ("http://[::1]:9200/a", "http://[::1]:9200/a"),
            ("http://us:pw/pw@a.example", "http://[hidden]"),
            ("http://us:pw?pw@a.example", "http://[hidden]"),
            ("mail@a.example?b", "mail@a.example?b"),
        ] {
            assert_eq!(masked(&json!(value)), json!(told), "{value}");
        }
        let list = json!({ "urls": ["https://us:pw@a.example", 1] });
        assert_eq!(masked(&list), json!({ "urls": ["https://a.example", 1] }));
    }
}
