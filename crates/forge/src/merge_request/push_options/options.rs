//! The push options that are about merge requests.

/// The options of a push, as far as they are about merge requests. Options that nobody knows are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) create: bool,
    pub(super) target: Option<String>,
    pub(super) target_project: Option<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) draft: bool,
    pub(super) label: Vec<String>,
    pub(super) unlabel: Vec<String>,
    pub(super) milestone: Option<String>,
    pub(super) assign: Vec<String>,
    pub(super) unassign: Vec<String>,
    pub(super) remove_source_branch: bool,
    pub(super) squash: bool,
    pub(super) when_pipeline_succeeds: bool,
}

impl Options {
    /// Nothing where no option is about merge requests.
    pub(super) fn parse(options: &[String]) -> Option<Self> {
        let mut parsed = Self::default();
        let about = options.iter().filter_map(|option| option.strip_prefix("merge_request."));
        for option in about {
            let (key, value) = option.split_once('=').unwrap_or((option, ""));
            parsed.take(key, value.trim().trim_matches('"'));
        }
        (parsed != Self::default()).then_some(parsed)
    }

    fn take(&mut self, key: &str, value: &str) {
        let text = Some(value.to_owned()).filter(|text| !text.is_empty());
        let is_on = value != "false";
        match key {
            "create" => self.create = is_on,
            "target" => self.target = text,
            "target_project" => self.target_project = text,
            "title" => self.title = text,
            // An option takes one line.
            "description" => self.description = text.map(|text| text.replace("\\n", "\n")),
            "draft" => self.draft = is_on,
            "label" => self.label.extend(text),
            "unlabel" => self.unlabel.extend(text),
            "milestone" => self.milestone = text,
            "assign" => self.assign.extend(text),
            "unassign" => self.unassign.extend(text),
            "remove_source_branch" => self.remove_source_branch = is_on,
            "squash" => self.squash = is_on,
            "merge_when_pipeline_succeeds" | "auto_merge" => self.when_pipeline_succeeds = is_on,
            _ => {}
        }
    }
}

/// `add-green-tea` as a title: `Add green tea`.
pub(super) fn humanized(branch: &str) -> String {
    let words = branch.replace(['-', '_'], " ");
    let mut letters = words.trim().chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => branch.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, humanized};

    fn parse(options: &[&str]) -> Option<Options> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        Options::parse(&options)
    }

    #[test]
    fn options_about_merge_requests_are_told_from_others() {
        assert_eq!(
            parse(&["ci.skip", "ci.variable=A=b", "secret_push_protection.skip_all", "x"]),
            None
        );
        assert_eq!(parse(&["merge_request.unheard_of"]), None);
        let options = parse(&[
            "merge_request.create",
            "merge_request.target=stable",
            "merge_request.description=One\\nTwo",
            "merge_request.label=a",
            "merge_request.label=\"b c\"",
            "merge_request.title=a=b",
        ]);
        let options = options.unwrap();
        assert!(options.create && !options.draft);
        assert_eq!(options.target.as_deref(), Some("stable"));
        assert_eq!(options.description.as_deref(), Some("One\nTwo"));
        assert_eq!(options.label, ["a", "b c"]);
        assert_eq!(options.title.as_deref(), Some("a=b"));
    }

    #[test]
    fn a_branch_becomes_a_title() {
        assert_eq!(humanized("add-green_tea"), "Add green tea");
        assert_eq!(humanized("é"), "É");
        assert_eq!(humanized("-"), "-");
    }
}
