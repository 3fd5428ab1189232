//! Values of the setting `with_runner`.

use anyhow::ensure;

/// The projects whose jobs the built-in runner takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuiltInRunnerScope {
    Administrators,
    Everybody,
    Places(Vec<String>),
}

impl BuiltInRunnerScope {
    /// # Errors
    /// When the text is none of it.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let paths: Vec<&str> = text.split(',').map(str::trim).collect();
        match paths.as_slice() {
            ["administrators"] => return Ok(Self::Administrators),
            ["all"] => return Ok(Self::Everybody),
            _ => {}
        }
        let is_path = |path: &str| {
            !path.is_empty()
                && !["administrators", "all"].contains(&path)
                && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
        };
        ensure!(
            paths.iter().all(|path| is_path(path)),
            "with_runner must be `administrators`, `all`, or paths of projects and groups, as in root/hello,team, \
             and is {text:?}"
        );
        Ok(Self::Places(paths.into_iter().map(str::to_owned).collect()))
    }

    /// For people.
    pub fn said(&self) -> String {
        match self {
            Self::Administrators => "jobs that administrators start".to_owned(),
            Self::Everybody => "everybody's jobs".to_owned(),
            Self::Places(paths) => format!("jobs of {}", paths.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BuiltInRunnerScope;

    #[test]
    fn whose_jobs_it_does_is_said_plainly() {
        let places = |paths: &[&str]| {
            BuiltInRunnerScope::Places(paths.iter().map(ToString::to_string).collect())
        };
        for (text, expected) in [
            ("administrators", Some(BuiltInRunnerScope::Administrators)),
            ("all", Some(BuiltInRunnerScope::Everybody)),
            ("root/hello", Some(places(&["root/hello"]))),
            ("root/hello, team", Some(places(&["root/hello", "team"]))),
            ("team,all", None),
            ("", None),
            ("a,,b", None),
            ("every body", None),
        ] {
            assert_eq!(BuiltInRunnerScope::parse(text).ok(), expected, "{text:?}");
        }
    }
}
