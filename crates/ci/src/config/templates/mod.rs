//! Templates that a configuration may include by name: of our own writing, under the names that people know.

/// For projects without a configuration of their own, where Auto DevOps is on.
pub const AUTO_DEVOPS: &str = "Auto-DevOps";

/// The files at the root of a repository by which that template knows what to do.
pub const BUILD_FILES: [&str; 10] = [
    "Cargo.toml",
    "Gemfile.lock",
    "build.gradle",
    "build.gradle.kts",
    "composer.lock",
    "go.mod",
    "package-lock.json",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
];

/// Each by its name without the ending.
const TEMPLATES: &[(&str, &str)] = &[
    (AUTO_DEVOPS, include_str!("Auto-DevOps.gitlab-ci.yml")),
    ("Bash", include_str!("Bash.gitlab-ci.yml")),
    ("C++", include_str!("C++.gitlab-ci.yml")),
    ("Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Docker", include_str!("Docker.gitlab-ci.yml")),
    ("Getting-Started", include_str!("Getting-Started.gitlab-ci.yml")),
    ("Go", include_str!("Go.gitlab-ci.yml")),
    ("Gradle", include_str!("Gradle.gitlab-ci.yml")),
    (
        "Jobs/Browser-Performance-Testing",
        include_str!("Jobs/Browser-Performance-Testing.gitlab-ci.yml"),
    ),
    ("Jobs/Build", include_str!("Jobs/Build.gitlab-ci.yml")),
    ("Jobs/Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Jobs/Container-Scanning", include_str!("Jobs/Container-Scanning.gitlab-ci.yml")),
    ("Jobs/Dependency-Scanning", include_str!("Jobs/Dependency-Scanning.gitlab-ci.yml")),
    ("Jobs/Deploy", include_str!("Jobs/Deploy.gitlab-ci.yml")),
    ("Jobs/License-Scanning", include_str!("Jobs/License-Scanning.gitlab-ci.yml")),
    ("Jobs/Load-Performance-Testing", include_str!("Jobs/Load-Performance-Testing.gitlab-ci.yml")),
    ("Jobs/SAST", include_str!("Jobs/SAST.gitlab-ci.yml")),
    ("Jobs/SAST-IaC", include_str!("Jobs/SAST-IaC.gitlab-ci.yml")),
    ("Jobs/Secret-Detection", include_str!("Jobs/Secret-Detection.gitlab-ci.yml")),
    ("Jobs/Test", include_str!("Jobs/Test.gitlab-ci.yml")),
    ("Maven", include_str!("Maven.gitlab-ci.yml")),
    ("Nodejs", include_str!("Nodejs.gitlab-ci.yml")),
    ("PHP", include_str!("PHP.gitlab-ci.yml")),
    ("Pages/HTML", include_str!("Pages/HTML.gitlab-ci.yml")),
    ("Python", include_str!("Python.gitlab-ci.yml")),
    ("Ruby", include_str!("Ruby.gitlab-ci.yml")),
    ("Rust", include_str!("Rust.gitlab-ci.yml")),
    ("Security/API-Fuzzing", include_str!("Security/API-Fuzzing.gitlab-ci.yml")),
    ("Security/Container-Scanning", include_str!("Jobs/Container-Scanning.gitlab-ci.yml")),
    ("Security/Coverage-Fuzzing", include_str!("Security/Coverage-Fuzzing.gitlab-ci.yml")),
    ("Security/DAST", include_str!("Security/DAST.gitlab-ci.yml")),
    ("Security/DAST-API", include_str!("Security/DAST-API.gitlab-ci.yml")),
    ("Security/Dependency-Scanning", include_str!("Jobs/Dependency-Scanning.gitlab-ci.yml")),
    ("Security/License-Scanning", include_str!("Jobs/License-Scanning.gitlab-ci.yml")),
    ("Security/SAST", include_str!("Jobs/SAST.gitlab-ci.yml")),
    ("Security/SAST-IaC", include_str!("Jobs/SAST-IaC.gitlab-ci.yml")),
    ("Security/Secret-Detection", include_str!("Jobs/Secret-Detection.gitlab-ci.yml")),
    ("Verify/Accessibility", include_str!("Verify/Accessibility.gitlab-ci.yml")),
    ("Verify/Browser-Performance", include_str!("Jobs/Browser-Performance-Testing.gitlab-ci.yml")),
    ("Verify/FailFast", include_str!("Verify/FailFast.gitlab-ci.yml")),
    (
        "Verify/Load-Performance-Testing",
        include_str!("Jobs/Load-Performance-Testing.gitlab-ci.yml"),
    ),
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

/// What people add to the name of a job's template for its newest form; there is one form of each here.
const NEWEST: &str = ".latest";

/// The text of a template, named without its ending.
pub fn find(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(NEWEST).filter(|name| name.contains('/')).unwrap_or(name);
    TEMPLATES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}
