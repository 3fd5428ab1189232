//! Templates that a configuration may include by name: of our own writing, under the names that people know.

/// Each by its name without the ending.
const TEMPLATES: &[(&str, &str)] = &[
    ("Bash", include_str!("Bash.gitlab-ci.yml")),
    ("C++", include_str!("C++.gitlab-ci.yml")),
    ("Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Docker", include_str!("Docker.gitlab-ci.yml")),
    ("Getting-Started", include_str!("Getting-Started.gitlab-ci.yml")),
    ("Go", include_str!("Go.gitlab-ci.yml")),
    ("Gradle", include_str!("Gradle.gitlab-ci.yml")),
    ("Jobs/Build", include_str!("Jobs/Build.gitlab-ci.yml")),
    ("Jobs/Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Maven", include_str!("Maven.gitlab-ci.yml")),
    ("Nodejs", include_str!("Nodejs.gitlab-ci.yml")),
    ("PHP", include_str!("PHP.gitlab-ci.yml")),
    ("Pages/HTML", include_str!("Pages/HTML.gitlab-ci.yml")),
    ("Python", include_str!("Python.gitlab-ci.yml")),
    ("Ruby", include_str!("Ruby.gitlab-ci.yml")),
    ("Rust", include_str!("Rust.gitlab-ci.yml")),
    ("Workflows/Branch-Pipelines", include_str!("Workflows/Branch-Pipelines.gitlab-ci.yml")),
    (
        "Workflows/MergeRequest-Pipelines",
        include_str!("Workflows/MergeRequest-Pipelines.gitlab-ci.yml"),
    ),
];

/// The names of all templates, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name)
}

/// The text of a template, named without its ending.
pub fn find(name: &str) -> Option<&'static str> {
    TEMPLATES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}
