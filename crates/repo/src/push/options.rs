//! Push options about the pipelines of a push.

/// The option of a push for which no pipeline is made at all.
pub const NO_PIPELINES: &str = "ci.no_pipeline";

/// The options of a push, as far as they are about its pipelines. Options that nobody knows are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineOptions {
    /// The pipelines are there, and nothing in them runs.
    pub skip: bool,
    /// There are no pipelines.
    pub none: bool,
    /// Names and values, in the order in which they were given.
    pub variables: Vec<(String, String)>,
}

impl PipelineOptions {
    pub fn parse(options: &[String]) -> Self {
        let mut parsed = Self::default();
        for option in options.iter().filter_map(|option| option.strip_prefix("ci.")) {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            let value = unquoted(value.trim());
            match key {
                "skip" => parsed.skip = value != "false",
                "no_pipeline" => parsed.none = value != "false",
                "variable" => parsed.variables.extend(variable(value)),
                _ => {}
            }
        }
        parsed
    }
}

/// `NAME=value`; anything else is no variable.
fn variable(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let named = !name.is_empty() && name.bytes().all(usual);
    named.then(|| (name.to_owned(), unquoted(value).to_owned()))
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{NO_PIPELINES, PipelineOptions};

    fn parse(options: &[&str]) -> PipelineOptions {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        PipelineOptions::parse(&options)
    }

    #[test]
    fn options_about_pipelines_are_told_from_others() {
        assert_eq!(parse(&["merge_request.create", "x", "ci.unheard_of"]), parse(&[]));
        assert!(parse(&["ci.skip"]).skip);
        assert!(!parse(&["ci.skip=false"]).skip);
        assert!(parse(&[NO_PIPELINES]).none && !parse(&["ci.skip"]).none);
    }

    #[test]
    fn variables_are_names_with_values() {
        let options =
            ["ci.variable=A=b=c", "ci.variable=\"B=d e\"", "ci.variable=C=", "ci.variable=D"];
        let variables = parse(&options).variables;
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(variables, [named("A", "b=c"), named("B", "d e"), named("C", "")]);
        assert!(parse(&["ci.variable=a b=c", "ci.variable==x"]).variables.is_empty());
    }
}
