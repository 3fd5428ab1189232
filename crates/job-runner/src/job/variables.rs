//! The variables of a job: the last of a name counts, and values may name other variables.

use std::{collections::HashMap, path::Path, time::Duration};

use crate::api::payload::Variable;

/// Names that shells do not let anybody set.
const READ_ONLY: &[&str] = &["UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"];

/// Variables with their values written out.
#[derive(Clone, Default)]
pub(crate) struct Variables {
    /// In the order in which they were first named.
    all: Vec<Entry>,
    places: HashMap<String, usize>,
}

#[derive(Clone)]
struct Entry {
    key: String,
    /// Of a file: its path.
    value: String,
    /// Of a file: what is in it.
    content: Option<String>,
    masked: bool,
}

impl Variables {
    /// The variables of a payload and then the runner's own. Files of variables lie in `folder`, as the job sees it.
    pub(crate) fn new(given: &[Variable], own: &[(String, String)], folder: &Path) -> Self {
        let own = own.iter().map(|(key, value)| Variable {
            key: key.clone(),
            value: value.clone(),
            raw: true,
            ..Variable::default()
        });
        let own: Vec<Variable> = own.collect();
        let mut plain = Self::default();
        for variable in given.iter().chain(&own).filter(|one| is_name(&one.key)) {
            plain.set(as_given(variable, folder));
        }
        let mut written_out = Self::default();
        for variable in given.iter().chain(&own).filter(|one| is_name(&one.key)) {
            let mut entry = as_given(variable, folder);
            match &mut entry.content {
                _ if variable.raw => {}
                Some(content) => *content = plain.expand(content),
                None => entry.value = plain.expand(&entry.value),
            }
            written_out.set(entry);
        }
        written_out
    }

    fn set(&mut self, entry: Entry) {
        match self.places.get(&entry.key) {
            Some(place) => self.all[*place] = entry,
            None => {
                self.places.insert(entry.key.clone(), self.all.len());
                self.all.push(entry);
            }
        }
    }

    /// The same with one more.
    pub(crate) fn with(&self, key: &str, value: &str) -> Self {
        let mut all = self.clone();
        let (key, value) = (key.to_owned(), value.to_owned());
        all.set(Entry { key, value, content: None, masked: false });
        all
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        Some(&self.all[*self.places.get(key)?].value)
    }

    /// The value unless it is blank.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(str::trim).filter(|value| !value.is_empty())
    }

    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.text(key).is_some_and(|value| matches!(value, "true" | "1" | "yes" | "TRUE" | "True"))
    }

    pub(crate) fn number(&self, key: &str) -> Option<u32> {
        self.text(key)?.parse().ok()
    }

    /// A time such as `1h30m`, or seconds.
    pub(crate) fn duration(&self, key: &str) -> Option<Duration> {
        parse_duration(self.text(key)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().map(|entry| (entry.key.as_str(), entry.value.as_str()))
    }

    /// Names and contents of the files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().filter_map(|entry| Some((entry.key.as_str(), entry.content.as_deref()?)))
    }

    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        let masked = self.all.iter().filter(|entry| entry.masked);
        masked.map(|entry| entry.content.as_deref().unwrap_or(&entry.value))
    }

    /// Writes out `$NAME` and `${NAME}`; unknown names vanish, and `$$` is a `$`.
    pub(crate) fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let name_end = rest.find(|sign: char| !is_name_sign(sign)).unwrap_or(rest.len());
            if let Some(behind) = rest.strip_prefix('$') {
                out.push('$');
                rest = behind;
            } else if let Some((name, behind)) =
                rest.strip_prefix('{').and_then(|inner| inner.split_once('}'))
            {
                out.push_str(self.get(name).unwrap_or_default());
                rest = behind;
            } else if name_end > 0 {
                out.push_str(self.get(&rest[..name_end]).unwrap_or_default());
                rest = &rest[name_end..];
            } else {
                out.push('$');
            }
        }
        out.push_str(rest);
        out
    }
}

fn as_given(variable: &Variable, folder: &Path) -> Entry {
    let (key, masked) = (variable.key.clone(), variable.masked);
    match variable.file {
        true => Entry {
            value: folder.join(&key).to_string_lossy().into_owned(),
            content: Some(variable.value.clone()),
            key,
            masked,
        },
        false => Entry { key, value: variable.value.clone(), content: None, masked },
    }
}

fn is_name_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// What shells take as the name of a variable; it is a file's name, too.
pub(crate) fn is_name(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 255
        && !key.starts_with(|sign: char| sign.is_ascii_digit())
        && key.chars().all(is_name_sign)
        && !READ_ONLY.contains(&key)
}

fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let (mut seconds, mut rest) = (0_u64, text);
    while !rest.is_empty() {
        let digits = rest.find(|sign: char| !sign.is_ascii_digit())?;
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|sign: char| sign.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match rest[..letters].trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        rest = rest[letters..].trim_start();
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
    }
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(key: &str, value: &str) -> Variable {
        Variable { key: key.to_owned(), value: value.to_owned(), ..Variable::default() }
    }

    fn folder() -> &'static Path {
        Path::new("/b/p.tmp")
    }

    #[test]
    fn the_last_of_a_name_counts_and_values_name_others() {
        let given =
            [variable("A", "old"), variable("B", "<$A-${A}-$NONE-$$A>"), variable("A", "new")];
        let all = Variables::new(&given, &[], folder());
        assert_eq!((all.get("A"), all.get("B")), (Some("new"), Some("<new-new--$A>")));
        assert_eq!(all.iter().count(), 2);
    }

    #[test]
    fn a_file_is_known_by_its_path() {
        let file = Variable { file: true, masked: true, ..variable("KEY", "secret text") };
        let all = Variables::new(&[file, variable("USE", "--key=$KEY")], &[], folder());
        assert_eq!(all.get("USE"), Some("--key=/b/p.tmp/KEY"));
        assert_eq!(all.files().collect::<Vec<_>>(), [("KEY", "secret text")]);
        assert_eq!(all.secrets().collect::<Vec<_>>(), ["secret text"]);
    }

    #[test]
    fn raw_values_stay_as_they_are() {
        let raw = Variable { raw: true, ..variable("R", "pa$$word$A") };
        let all = Variables::new(&[variable("A", "x"), raw], &[], folder());
        assert_eq!(all.get("R"), Some("pa$$word$A"));
    }

    #[test]
    fn names_that_are_no_names_are_left_out() {
        let given = ["../x", "1A", "A B", "", "UID", "a;b"].map(|key| variable(key, "v"));
        assert_eq!(Variables::new(&given, &[], folder()).iter().count(), 0);
    }

    #[test]
    fn the_runners_own_variables_win() {
        let own = [("CI_PROJECT_DIR".to_owned(), "/b/p".to_owned())];
        let given = [variable("CI_PROJECT_DIR", "/etc"), variable("X", "$CI_PROJECT_DIR/x")];
        assert_eq!(Variables::new(&given, &own, folder()).get("X"), Some("/b/p/x"));
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(parse_duration("1h 30m5s"), Some(Duration::from_secs(5405)));
        assert_eq!(parse_duration("90"), Some(Duration::from_secs(90)));
        assert_eq!((parse_duration("soon"), parse_duration("5d")), (None, None));
    }
}
