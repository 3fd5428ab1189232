//! One release and what it brings.

use serde_json::{Value, json};
use time::Date;

use super::config::Config;

/// One change.
#[derive(Clone, Debug)]
pub struct Entry {
    pub category: String,
    pub title: String,
    /// `group/project@commit`
    pub commit: String,
    /// `@username`, where the author has an account.
    pub author: Option<String>,
    /// `group/project!1`, where one brought the commit.
    pub merge_request: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Release {
    pub version: String,
    pub date: Date,
    /// In the order in which they are told.
    pub entries: Vec<Entry>,
}

impl Release {
    /// The section of the changelog, with its title.
    pub fn markdown(&self, config: &Config) -> String {
        let body = config.template.render(&json!({ "categories": self.categories() }));
        format!("## {} ({})\n\n{}\n", self.version, config.date(self.date), body.trim())
    }

    /// In the order in which the first change of each comes.
    fn categories(&self) -> Vec<Value> {
        let mut names: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !names.contains(&entry.category.as_str()) {
                names.push(&entry.category);
            }
        }
        let category = |name: &str| {
            let own = self.entries.iter().filter(|entry| entry.category == name);
            let entries: Vec<Value> = own.map(Entry::data).collect();
            json!({
                "title": name,
                "count": entries.len(),
                "single_change": entries.len() == 1,
                "entries": entries,
            })
        };
        names.into_iter().map(category).collect()
    }
}

impl Entry {
    fn data(&self) -> Value {
        json!({
            "title": self.title,
            "commit": { "reference": self.commit },
            "author": { "reference": self.author },
            "merge_request": self.merge_request.as_ref().map(|one| json!({ "reference": one })),
        })
    }
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::{super::config::Config, Entry, Release};

    fn entry(category: &str, title: &str, author: Option<&str>) -> Entry {
        Entry {
            category: category.to_owned(),
            title: title.to_owned(),
            commit: "group/one@abc".to_owned(),
            author: author.map(str::to_owned),
            merge_request: None,
        }
    }

    #[test]
    fn changes_are_told_by_category() {
        let entries = vec![
            entry("Added", "One", Some("@ada")),
            entry("Fixed", "Two", None),
            entry("Added", "Three", None),
        ];
        let release = Release { version: "1.0.0".to_owned(), date: date!(2026 - 01 - 05), entries };

        insta::assert_snapshot!(release.markdown(&Config::read(None).unwrap()));
    }

    #[test]
    fn a_release_without_changes_says_so() {
        let date = date!(2026 - 01 - 05);
        let release = Release { version: "1.0.0".to_owned(), date, entries: Vec::new() };
        let config = Config::read(Some("date_format: '%d.%m.%Y'")).unwrap();

        assert_eq!(release.markdown(&config), "## 1.0.0 (05.01.2026)\n\nNo changes.\n");
    }
}
