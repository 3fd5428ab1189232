//! Templates for the messages of merge and squash commits.

use std::fmt::Write as _;

pub const MERGE_TEMPLATE: &str = "Merge branch '%{source_branch}' into '%{target_branch}'\n\n%{title}\n\n%{issues}\n\nSee merge request %{reference}";
pub const SQUASH_TEMPLATE: &str = "%{title}";
/// A longer body is not repeated among all commits.
const LONGEST_BODY: usize = 100 << 10;

/// Somebody, as commits name people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitIdentity {
    pub name: String,
    pub email: String,
}

impl CommitIdentity {
    fn line(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }
}

/// One commit of the source, as far as messages repeat it.
#[derive(Clone, Debug, Default)]
pub struct SourceCommit {
    pub message: String,
    pub author: CommitIdentity,
    pub is_merge: bool,
}

/// Everything a message may repeat.
#[derive(Clone, Debug, Default)]
pub struct MessageValues {
    pub source_branch: String,
    pub target_branch: String,
    pub source_project_id: Option<i64>,
    pub title: String,
    pub description: String,
    /// `#1`, `group/project#2`
    pub closes: Vec<String>,
    /// `group/project!1`
    pub reference: String,
    /// `!1`
    pub local_reference: String,
    pub url: String,
    /// The oldest first.
    pub commits: Vec<SourceCommit>,
    pub approved_by: Vec<CommitIdentity>,
    pub reviewed_by: Vec<CommitIdentity>,
    pub merged_by: CommitIdentity,
    pub author: CommitIdentity,
    /// Who is named as the author of the commit itself, and not once more beside it.
    pub own_email: String,
}

impl MessageValues {
    /// The template in which names are replaced. A line of nothing but empty names goes, with the blank line before
    /// it where another one follows.
    pub fn fill(&self, template: &str) -> String {
        let template = template.replace('\r', "");
        let lines: Vec<Option<String>> = template.split('\n').map(|line| self.line(line)).collect();
        let is_blank = |line: Option<&Option<String>>| {
            line.is_none_or(|line| line.as_ref().is_some_and(String::is_empty))
        };
        let mut kept: Vec<String> = Vec::with_capacity(lines.len());
        for (place, line) in lines.iter().enumerate() {
            match line {
                Some(line) => kept.push(line.clone()),
                None => {
                    let before = place.checked_sub(1).and_then(|before| lines.get(before));
                    let blank_before = before.is_some_and(|line| is_blank(Some(line)));
                    if blank_before && is_blank(lines.get(place + 1)) {
                        kept.pop();
                    }
                }
            }
        }
        kept.join("\n")
    }

    /// `None` for a line that holds one empty name and nothing else.
    fn line(&self, line: &str) -> Option<String> {
        let mut filled = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(start) = rest.find("%{") {
            let (before, from) = rest.split_at(start);
            filled.push_str(before);
            let value = from
                .find('}')
                .and_then(|end| self.value(&from[2..end]).map(|value| (value, end + 1)));
            match value {
                Some((value, end)) => {
                    if value.trim().is_empty()
                        && before.is_empty()
                        && filled.is_empty()
                        && from.len() == end
                    {
                        return None;
                    }
                    filled.push_str(&value);
                    rest = &from[end..];
                }
                None => {
                    filled.push_str("%{");
                    rest = &from[2..];
                }
            }
        }
        filled.push_str(rest);
        Some(filled)
    }

    fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "source_branch" => self.source_branch.clone(),
            "target_branch" => self.target_branch.clone(),
            "source_project_id" => {
                self.source_project_id.map(|id| id.to_string()).unwrap_or_default()
            }
            "title" => self.title.clone(),
            "description" => self.description.clone(),
            "issues" => self.issues(),
            "reference" => self.reference.clone(),
            "local_reference" => self.local_reference.clone(),
            "url" => self.url.clone(),
            "first_commit" => {
                self.first().map(|one| one.message.trim().to_owned()).unwrap_or_default()
            }
            "first_multiline_commit" => self
                .first_with_body()
                .map_or_else(|| self.title.clone(), |one| one.message.trim().to_owned()),
            "first_multiline_commit_description" => {
                self.first_with_body().map(|one| body(&one.message).to_owned()).unwrap_or_default()
            }
            "approved_by" => trailers("Approved-by", &self.approved_by),
            "reviewed_by" => trailers("Reviewed-by", &self.reviewed_by),
            "merged_by" => self.merged_by.line(),
            "merge_request_author" => self.author.line(),
            "co_authored_by" => self.co_authors(),
            "all_commits" => self.all_commits(),
            _ => return None,
        })
    }

    fn issues(&self) -> String {
        match self.closes.split_last() {
            None => String::new(),
            Some((only, [])) => format!("Closes {only}"),
            Some((last, [first])) => format!("Closes {first} and {last}"),
            Some((last, others)) => format!("Closes {}, and {last}", others.join(", ")),
        }
    }

    fn first(&self) -> Option<&SourceCommit> {
        self.commits.first()
    }

    fn first_with_body(&self) -> Option<&SourceCommit> {
        self.commits.iter().find(|one| !body(&one.message).is_empty())
    }

    fn co_authors(&self) -> String {
        let mut people: Vec<CommitIdentity> = Vec::new();
        for one in &self.commits {
            let known = people.iter().any(|person| person.email == one.author.email);
            if !known && one.author.email != self.own_email {
                people.push(one.author.clone());
            }
        }
        trailers("Co-authored-by", &people)
    }

    fn all_commits(&self) -> String {
        let mut text = String::new();
        for one in self.commits.iter().filter(|one| !one.is_merge) {
            let gap = if text.is_empty() { "" } else { "\n\n" };
            let title = one.message.lines().next().unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = match one.message.len() > LONGEST_BODY {
                true => write!(
                    text,
                    "{gap}* {title}\n\n-- Skipped commit body exceeding 100KiB in size."
                ),
                false => write!(text, "{gap}* {}", one.message.trim()),
            };
        }
        text
    }
}

fn body(message: &str) -> &str {
    message.split_once('\n').map(|(_, body)| body.trim()).unwrap_or_default()
}

fn trailers(word: &str, people: &[CommitIdentity]) -> String {
    let lines: Vec<String> = people.iter().map(|one| format!("{word}: {}", one.line())).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{CommitIdentity, MERGE_TEMPLATE, MessageValues, SQUASH_TEMPLATE, SourceCommit};

    fn named(name: &str) -> CommitIdentity {
        CommitIdentity {
            name: name.to_owned(),
            email: format!("{}@example.com", name.to_lowercase()),
        }
    }

    fn words() -> MessageValues {
        let commit = |message: &str, author: &str| SourceCommit {
            message: message.to_owned(),
            author: named(author),
            is_merge: false,
        };
        MessageValues {
            source_branch: "feature".to_owned(),
            target_branch: "main".to_owned(),
            source_project_id: Some(7),
            title: "Add a feature".to_owned(),
            reference: "forge/core!3".to_owned(),
            local_reference: "!3".to_owned(),
            url: "https://forge.test/forge/core/-/merge_requests/3".to_owned(),
            commits: vec![
                commit("One\n", "Ann"),
                commit("Two\n\nWith a body\n", "Ben"),
                SourceCommit { is_merge: true, ..commit("Merge\n", "Ann") },
            ],
            merged_by: named("Mia"),
            author: named("Ann"),
            own_email: "ann@example.com".to_owned(),
            ..MessageValues::default()
        }
    }

    #[test]
    fn the_usual_words_name_both_branches_and_the_merge_request() {
        assert_eq!(
            words().fill(MERGE_TEMPLATE),
            "Merge branch 'feature' into 'main'\n\nAdd a feature\n\nSee merge request forge/core!3"
        );
        let closing = MessageValues { closes: vec!["#1".to_owned(), "#2".to_owned()], ..words() };
        assert_eq!(
            closing.fill(MERGE_TEMPLATE),
            "Merge branch 'feature' into 'main'\n\nAdd a feature\n\nCloses #1 and #2\n\nSee merge request forge/core!3"
        );
        assert_eq!(words().fill(SQUASH_TEMPLATE), "Add a feature");
    }

    #[test]
    fn every_name_stands_for_something() {
        let all = MessageValues {
            description: "Why".to_owned(),
            closes: ["#1", "#2", "a/b#3"].map(str::to_owned).to_vec(),
            approved_by: vec![named("Ada"), named("Ben")],
            reviewed_by: vec![named("Ada")],
            ..words()
        };
        for (name, value) in [
            ("source_project_id", "7"),
            ("description", "Why"),
            ("issues", "Closes #1, #2, and a/b#3"),
            ("local_reference", "!3"),
            ("url", "https://forge.test/forge/core/-/merge_requests/3"),
            ("first_commit", "One"),
            ("first_multiline_commit", "Two\n\nWith a body"),
            ("first_multiline_commit_description", "With a body"),
            (
                "approved_by",
                "Approved-by: Ada <ada@example.com>\nApproved-by: Ben <ben@example.com>",
            ),
            ("reviewed_by", "Reviewed-by: Ada <ada@example.com>"),
            ("merged_by", "Mia <mia@example.com>"),
            ("merge_request_author", "Ann <ann@example.com>"),
            ("co_authored_by", "Co-authored-by: Ben <ben@example.com>"),
            ("all_commits", "* One\n\n* Two\n\nWith a body"),
        ] {
            assert_eq!(all.fill(&format!("%{{{name}}}")), value);
        }
    }

    #[test]
    fn lines_of_nothing_go() {
        for (template, filled) in [
            ("A\n\n%{issues}\n\nB", "A\n\nB"),
            ("A\n%{issues}\nB", "A\nB"),
            ("A\n\n%{issues}\nB", "A\n\nB"),
            ("A\n\n%{issues}", "A"),
            ("A: %{issues}\nB", "A: \nB"),
            ("%{unknown} %{ %{title", "%{unknown} %{ %{title"),
            ("A\r\n%{title}", "A\nAdd a feature"),
        ] {
            assert_eq!(words().fill(template), filled, "{template:?}");
        }
    }

    #[test]
    fn what_stands_for_a_name_is_not_looked_at_again() {
        let words = MessageValues { title: "%{url}".to_owned(), ..words() };
        assert_eq!(words.fill("%{title}"), "%{url}");
    }
}
