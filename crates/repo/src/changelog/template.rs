//! The small language of changelog templates: `{{ a.b }}`, `{% if a %}…{% else %}…{% end %}`,
//! `{% each a %}…{% end %}`. A line end after a tag, and one after a backslash, is not part of the text.

use kernel::Result;
use serde_json::Value;

use super::failed;

/// Deeper nesting is a mistake.
const DEEPEST: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Template(Vec<Node>);

#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Value(Path),
    If { condition: Path, then: Vec<Node>, otherwise: Vec<Node> },
    Each { list: Path, body: Vec<Node> },
}

/// The steps from a value to one inside of it; none is the value itself.
type Path = Vec<String>;

/// The token that ended a list of nodes.
#[derive(Debug, PartialEq, Eq)]
enum Stop {
    End,
    Else,
    Nothing,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = text.replace("\\\r\n", "").replace("\\\n", "");
        let mut rest = text.as_str();
        match nodes(&mut rest, 0)? {
            (nodes, Stop::Nothing) => Ok(Self(nodes)),
            _ => Err(failed("the template has an end or else without a beginning")),
        }
    }

    pub(super) fn render(&self, data: &Value) -> String {
        let mut out = String::new();
        write_all(&self.0, data, &mut out);
        out
    }
}

fn nodes(rest: &mut &str, depth: usize) -> Result<(Vec<Node>, Stop)> {
    if depth > DEEPEST {
        return Err(failed("the template is nested too deeply"));
    }
    let mut found = Vec::new();
    loop {
        let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() else {
            found.push(Node::Text(std::mem::take(rest).to_owned()));
            return Ok((found, Stop::Nothing));
        };
        let (text, tag) = rest.split_at(at);
        if !text.is_empty() {
            found.push(Node::Text(text.to_owned()));
        }
        if let Some(value) = tag.strip_prefix("{{") {
            found.push(Node::Value(path(inside(value, "}}", rest)?)));
            continue;
        }
        let tag = inside(&tag[2..], "%}", rest)?;
        *rest = rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')).unwrap_or(rest);
        match tag.split_once(char::is_whitespace) {
            Some(("if", condition)) => found.push(condition_node(path(condition), rest, depth)?),
            Some(("each", list)) => match nodes(rest, depth + 1)? {
                (body, Stop::End) => found.push(Node::Each { list: path(list), body }),
                _ => return Err(failed("the template has an each without its end")),
            },
            None if tag == "else" => return Ok((found, Stop::Else)),
            None if tag == "end" => return Ok((found, Stop::End)),
            _ => return Err(failed(format!("the template has an unknown tag `{tag}`"))),
        }
    }
}

fn condition_node(condition: Path, rest: &mut &str, depth: usize) -> Result<Node> {
    let (then, stop) = nodes(rest, depth + 1)?;
    let (otherwise, stop) = match stop {
        Stop::Else => nodes(rest, depth + 1)?,
        stop => (Vec::new(), stop),
    };
    match stop {
        Stop::End => Ok(Node::If { condition, then, otherwise }),
        _ => Err(failed("the template has an if without its end")),
    }
}

/// What stands before `end`; `rest` goes on behind it.
fn inside<'a>(text: &'a str, end: &str, rest: &mut &'a str) -> Result<&'a str> {
    let Some((inner, after)) = text.split_once(end) else {
        return Err(failed(format!("the template lacks a `{end}`")));
    };
    *rest = after;
    Ok(inner.trim())
}

/// `it` is the value itself.
fn path(text: &str) -> Path {
    let steps = text.trim().split('.').filter(|step| *step != "it");
    steps.map(str::to_owned).collect()
}

fn find<'a>(data: &'a Value, path: &Path) -> &'a Value {
    path.iter().fold(data, |value, step| match (value, step.parse::<usize>()) {
        (Value::Array(list), Ok(place)) => list.get(place).unwrap_or(&Value::Null),
        _ => value.get(step).unwrap_or(&Value::Null),
    })
}

fn is_there(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

fn write_all(nodes: &[Node], data: &Value, out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Value(path) => match find(data, path) {
                Value::Null => {}
                Value::String(text) => out.push_str(text),
                other => out.push_str(&other.to_string()),
            },
            Node::If { condition, then, otherwise } => {
                let chosen = if is_there(find(data, condition)) { then } else { otherwise };
                write_all(chosen, data, out);
            }
            Node::Each { list, body } => {
                for item in find(data, list).as_array().into_iter().flatten() {
                    write_all(body, item, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Template;

    #[test]
    fn values_conditions_and_lists_are_written() {
        let data = json!({ "a": { "b": 1 }, "none": [], "list": ["x", "y"], "s": "t" });
        for (text, written) in [
            ("{{ a.b }}-{{s}}-{{ lost.x }}", "1-t-"),
            ("{% if s %}\nyes\n{% else %}\nno\n{% end %}\n!", "yes\n!"),
            ("{% if none %}yes{% else %}no{% end %}", "no"),
            ("{% each list %}\n* {{ it }}\n{% end %}\n", "* x\n* y\n"),
            ("one \\\nline", "one line"),
            ("{{ list.1 }}", "y"),
        ] {
            assert_eq!(Template::parse(text).unwrap().render(&data), written, "{text}");
        }
    }

    #[test]
    fn a_template_with_a_mistake_is_refused() {
        let deep = "{% if a %}".repeat(20);
        for text in
            ["{{ a", "{% if a %}", "{% end %}", "{% else %}", "{% loop a %}{% end %}", &deep]
        {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }
}
