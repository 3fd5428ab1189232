//! A parameter of an integration, and what its value has to be.

use kernel::values::is_web_url;
use serde_json::Value;

/// The JSON type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterType {
    Text,
    Bool,
    Integer,
}

/// A condition on the text of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Any,
    /// An address of the web.
    Url,
    /// An address with a place for the number of an issue.
    IssueUrl,
    /// The address of a wiki of the one product that hosts it.
    ConfluenceUrl,
    /// The address of a workspace of the one product that hosts it.
    LinearUrl,
    /// Letters, digits and underscores.
    Word,
    /// Of which branches somebody wants to hear.
    Branches,
    /// The name of a host.
    Host,
    /// One part of the name of a host.
    HostLabel,
    Digits,
    /// Lines of `key:value`.
    Tags,
    /// A secret of several lines.
    Lines,
}

/// The branches that a receiver can choose.
const BRANCHES: [&str; 4] = ["all", "default", "protected", "default_and_protected"];
/// Characters of a value.
const LONGEST: usize = 65_536;

/// A row of the table of a kind's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// Another name under which it is taken.
    pub alias: Option<&'static str>,
    pub kind: ParameterType,
    /// Whether each change has to give it.
    pub required: bool,
    /// Whether it is sealed, and never shown.
    pub secret: bool,
    /// Whether secrets are forgotten when it changes, since they would be sent elsewhere.
    pub exposing: bool,
    pub rule: Rule,
    /// JSON of its value in a fresh record.
    pub default: Option<&'static str>,
}

pub(super) const fn text(name: &'static str) -> Parameter {
    Parameter {
        name,
        alias: None,
        kind: ParameterType::Text,
        required: false,
        secret: false,
        exposing: false,
        rule: Rule::Any,
        default: None,
    }
}

pub(super) const fn boolean(name: &'static str) -> Parameter {
    Parameter { kind: ParameterType::Bool, ..text(name) }
}

pub(super) const fn integer(name: &'static str) -> Parameter {
    Parameter { kind: ParameterType::Integer, ..text(name) }
}

pub(super) const fn url(name: &'static str) -> Parameter {
    Parameter { rule: Rule::Url, ..text(name) }
}

pub(super) const fn secret(name: &'static str) -> Parameter {
    Parameter { secret: true, ..text(name) }
}

impl Parameter {
    pub(super) const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    pub(super) const fn exposing(self) -> Self {
        Self { exposing: true, ..self }
    }

    pub(super) const fn rule(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }

    pub(super) const fn or(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    pub(super) const fn default(self, json: &'static str) -> Self {
        Self { default: Some(json), ..self }
    }

    /// Its value in a fresh record.
    pub fn initial(&self) -> Value {
        self.default.and_then(|json| serde_json::from_str(json).ok()).unwrap_or(Value::Null)
    }

    /// Whether a value keeps the rule. Nothing is a value, unless the parameter is required.
    pub fn takes(&self, value: &Value) -> bool {
        match value {
            Value::Null => !self.required,
            Value::String(text) if text.trim().is_empty() => !self.required,
            // A secret may become a header.
            Value::String(text) if self.is_one_line() && text.contains(char::is_control) => false,
            Value::String(text) => text.chars().count() <= LONGEST && self.rule.holds(text),
            _ => true,
        }
    }
}

impl Parameter {
    fn is_one_line(&self) -> bool {
        self.secret && self.rule != Rule::Lines
    }
}

impl Rule {
    fn holds(self, text: &str) -> bool {
        match self {
            Self::Any | Self::Lines => true,
            Self::Url => is_web_url(text),
            Self::IssueUrl => is_web_url(text) && text.contains(":id"),
            Self::ConfluenceUrl => {
                let rest = text.strip_prefix("https://").unwrap_or_default();
                let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
                is_web_url(text) && host.ends_with(".atlassian.net") && path.starts_with("wiki")
            }
            Self::LinearUrl => {
                let name = text.strip_prefix("https://linear.app/").unwrap_or_default();
                let name = name.strip_suffix('/').unwrap_or(name);
                let is_known = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
                (3..=32).contains(&name.len()) && name.bytes().all(is_known)
            }
            Self::Word => text.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_'),
            Self::Branches => BRANCHES.contains(&text),
            Self::Host => text.split('.').all(is_host_label),
            Self::HostLabel => is_host_label(text),
            Self::Digits => text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Tags => text.lines().filter(|line| !line.trim().is_empty()).all(is_tag),
        }
    }

    /// Whether it is an address, to which the server or whoever reads the project goes: none inside of the network, unless
    /// administrators allow it.
    pub fn is_address(self) -> bool {
        matches!(self, Self::Url | Self::IssueUrl | Self::ConfluenceUrl | Self::LinearUrl)
    }
}

/// Whether a text may stand between the dots of a host's name.
fn is_host_label(text: &str) -> bool {
    let is_known = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    (1..=63).contains(&text.len())
        && text.chars().all(is_known)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_tag(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, value)| {
        let is_known = |sign: char| sign.is_alphanumeric() || "_-".contains(sign);
        !key.is_empty() && key.chars().all(is_known) && !value.trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rule, secret, text, url};

    #[test]
    fn a_value_keeps_the_rule_of_its_parameter() {
        assert!(url("u").takes(&json!("https://ci.example.com/x")));
        assert!(!url("u").takes(&json!("ci.example.com")));
        assert!(url("u").takes(&json!("")) && !url("u").required().takes(&json!("")));
        let issues = text("i").rule(Rule::IssueUrl);
        assert!(issues.takes(&json!("https://b.example.com/:id")));
        assert!(!issues.takes(&json!("https://b.example.com/")));
        assert!(!secret("k").rule(Rule::Word).takes(&json!("a-b")));
        let wiki = text("w").rule(Rule::ConfluenceUrl);
        assert!(wiki.takes(&json!("https://a.atlassian.net/wiki")));
        assert!(!wiki.takes(&json!("https://atlassian.example.com/wiki")));
        let workspace = text("l").rule(Rule::LinearUrl);
        assert!(workspace.takes(&json!("https://linear.app/crew-1/")));
        assert!(!workspace.takes(&json!("https://linear.app/crew/team")));
    }

    #[test]
    fn what_becomes_part_of_a_request_cannot_break_it() {
        assert!(!secret("k").takes(&json!("a\r\nX-Other: b")));
        assert!(secret("k").rule(Rule::Lines).takes(&json!("-----BEGIN\nEND-----")));
        let site = text("s").rule(Rule::Host);
        assert!(site.takes(&json!("datadoghq.eu")) && !site.takes(&json!("x.example/@inner")));
        let subdomain = text("d").rule(Rule::HostLabel);
        assert!(subdomain.takes(&json!("crew-1")) && !subdomain.takes(&json!("a.b")));
        let tags = text("t").rule(Rule::Tags);
        assert!(tags.takes(&json!("env:live\n\nteam:a:b")) && !tags.takes(&json!("env")));
    }
}
