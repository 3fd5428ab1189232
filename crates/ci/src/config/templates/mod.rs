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
    ("Android", include_str!("Android.gitlab-ci.yml")),
    ("Android-Fastlane", include_str!("Android-Fastlane.gitlab-ci.yml")),
    ("Android.latest", include_str!("Android.gitlab-ci.yml")),
    (AUTO_DEVOPS, include_str!("Auto-DevOps.gitlab-ci.yml")),
    ("Bash", include_str!("Bash.gitlab-ci.yml")),
    ("C++", include_str!("C++.gitlab-ci.yml")),
    ("Chef", include_str!("Chef.gitlab-ci.yml")),
    ("Clojure", include_str!("Clojure.gitlab-ci.yml")),
    ("Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Composer", include_str!("Composer.gitlab-ci.yml")),
    ("Crystal", include_str!("Crystal.gitlab-ci.yml")),
    ("Dart", include_str!("Dart.gitlab-ci.yml")),
    ("Django", include_str!("Django.gitlab-ci.yml")),
    ("Docker", include_str!("Docker.gitlab-ci.yml")),
    ("Elixir", include_str!("Elixir.gitlab-ci.yml")),
    ("Flutter", include_str!("Flutter.gitlab-ci.yml")),
    ("Getting-Started", include_str!("Getting-Started.gitlab-ci.yml")),
    ("Go", include_str!("Go.gitlab-ci.yml")),
    ("Gradle", include_str!("Gradle.gitlab-ci.yml")),
    ("Grails", include_str!("Grails.gitlab-ci.yml")),
    ("Indeni.Cloudrail", include_str!("Indeni.Cloudrail.gitlab-ci.yml")),
    (
        "Jobs/Browser-Performance-Testing",
        include_str!("Jobs/Browser-Performance-Testing.gitlab-ci.yml"),
    ),
    ("Jobs/Build", include_str!("Jobs/Build.gitlab-ci.yml")),
    ("Jobs/CF-Provision", include_str!("Jobs/CF-Provision.gitlab-ci.yml")),
    ("Jobs/Code-Intelligence", include_str!("Jobs/Code-Intelligence.gitlab-ci.yml")),
    ("Jobs/Code-Quality", include_str!("Jobs/Code-Quality.gitlab-ci.yml")),
    ("Jobs/Container-Scanning", include_str!("Jobs/Container-Scanning.gitlab-ci.yml")),
    (
        "Jobs/DAST-Default-Branch-Deploy",
        include_str!("Jobs/DAST-Default-Branch-Deploy.gitlab-ci.yml"),
    ),
    ("Jobs/Dependency-Scanning", include_str!("Jobs/Dependency-Scanning.gitlab-ci.yml")),
    ("Jobs/Deploy", include_str!("Jobs/Deploy.gitlab-ci.yml")),
    ("Jobs/Helm-2to3", include_str!("Jobs/Helm-2to3.gitlab-ci.yml")),
    ("Jobs/License-Scanning", include_str!("Jobs/License-Scanning.gitlab-ci.yml")),
    ("Jobs/Load-Performance-Testing", include_str!("Jobs/Load-Performance-Testing.gitlab-ci.yml")),
    ("Jobs/SAST", include_str!("Jobs/SAST.gitlab-ci.yml")),
    ("Jobs/SAST-IaC", include_str!("Jobs/SAST-IaC.gitlab-ci.yml")),
    ("Jobs/Secret-Detection", include_str!("Jobs/Secret-Detection.gitlab-ci.yml")),
    ("Jobs/Test", include_str!("Jobs/Test.gitlab-ci.yml")),
    ("Julia", include_str!("Julia.gitlab-ci.yml")),
    ("Kaniko", include_str!("Kaniko.gitlab-ci.yml")),
    ("LaTeX", include_str!("LaTeX.gitlab-ci.yml")),
    ("Laravel", include_str!("Laravel.gitlab-ci.yml")),
    ("Maven", include_str!("Maven.gitlab-ci.yml")),
    ("Mono", include_str!("Mono.gitlab-ci.yml")),
    ("Nodejs", include_str!("Nodejs.gitlab-ci.yml")),
    ("OpenShift", include_str!("OpenShift.gitlab-ci.yml")),
    ("OpenTofu", include_str!("OpenTofu.gitlab-ci.yml")),
    ("OpenTofu.latest", include_str!("OpenTofu.gitlab-ci.yml")),
    ("OpenTofu/Base", include_str!("OpenTofu/Base.gitlab-ci.yml")),
    ("PHP", include_str!("PHP.gitlab-ci.yml")),
    ("Packer", include_str!("Packer.gitlab-ci.yml")),
    ("Pages/Brunch", include_str!("Pages/Brunch.gitlab-ci.yml")),
    ("Pages/Doxygen", include_str!("Pages/Doxygen.gitlab-ci.yml")),
    ("Pages/Gatsby", include_str!("Pages/Gatsby.gitlab-ci.yml")),
    ("Pages/HTML", include_str!("Pages/HTML.gitlab-ci.yml")),
    ("Pages/Harp", include_str!("Pages/Harp.gitlab-ci.yml")),
    ("Pages/Hexo", include_str!("Pages/Hexo.gitlab-ci.yml")),
    ("Pages/Hugo", include_str!("Pages/Hugo.gitlab-ci.yml")),
    ("Pages/Hyde", include_str!("Pages/Hyde.gitlab-ci.yml")),
    ("Pages/JBake", include_str!("Pages/JBake.gitlab-ci.yml")),
    ("Pages/Jekyll", include_str!("Pages/Jekyll.gitlab-ci.yml")),
    ("Pages/Jigsaw", include_str!("Pages/Jigsaw.gitlab-ci.yml")),
    ("Pages/Lektor", include_str!("Pages/Lektor.gitlab-ci.yml")),
    ("Pages/Metalsmith", include_str!("Pages/Metalsmith.gitlab-ci.yml")),
    ("Pages/Middleman", include_str!("Pages/Middleman.gitlab-ci.yml")),
    ("Pages/Nanoc", include_str!("Pages/Nanoc.gitlab-ci.yml")),
    ("Pages/Octopress", include_str!("Pages/Octopress.gitlab-ci.yml")),
    ("Pages/Pelican", include_str!("Pages/Pelican.gitlab-ci.yml")),
    ("Pages/SwaggerUI", include_str!("Pages/SwaggerUI.gitlab-ci.yml")),
    ("Pages/Zola", include_str!("Pages/Zola.gitlab-ci.yml")),
    ("Python", include_str!("Python.gitlab-ci.yml")),
    ("Ruby", include_str!("Ruby.gitlab-ci.yml")),
    ("Rust", include_str!("Rust.gitlab-ci.yml")),
    ("Scala", include_str!("Scala.gitlab-ci.yml")),
    ("Security/API-Fuzzing", include_str!("Security/API-Fuzzing.gitlab-ci.yml")),
    ("Security/Container-Scanning", include_str!("Jobs/Container-Scanning.gitlab-ci.yml")),
    ("Security/Coverage-Fuzzing", include_str!("Security/Coverage-Fuzzing.gitlab-ci.yml")),
    ("Security/DAST", include_str!("Security/DAST.gitlab-ci.yml")),
    ("Security/DAST-API", include_str!("Security/DAST-API.gitlab-ci.yml")),
    ("Security/DAST-On-Demand-Scan", include_str!("Security/DAST-On-Demand-Scan.gitlab-ci.yml")),
    ("Security/Dependency-Scanning", include_str!("Jobs/Dependency-Scanning.gitlab-ci.yml")),
    ("Security/License-Scanning", include_str!("Jobs/License-Scanning.gitlab-ci.yml")),
    ("Security/SAST", include_str!("Jobs/SAST.gitlab-ci.yml")),
    ("Security/SAST-IaC", include_str!("Jobs/SAST-IaC.gitlab-ci.yml")),
    ("Security/Secret-Detection", include_str!("Jobs/Secret-Detection.gitlab-ci.yml")),
    ("Security/Secure-Binaries", include_str!("Security/Secure-Binaries.gitlab-ci.yml")),
    ("Swift", include_str!("Swift.gitlab-ci.yml")),
    ("Terraform", include_str!("Terraform.gitlab-ci.yml")),
    ("Terraform-Module", include_str!("Terraform-Module.gitlab-ci.yml")),
    ("Terraform.latest", include_str!("Terraform.gitlab-ci.yml")),
    ("Terraform/Base", include_str!("Terraform/Base.gitlab-ci.yml")),
    ("Terraform/Module-Base", include_str!("Terraform/Module-Base.gitlab-ci.yml")),
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
    ("dotNET", include_str!("dotNET.gitlab-ci.yml")),
    ("dotNET-Core", include_str!("dotNET-Core.gitlab-ci.yml")),
    ("iOS-Fastlane", include_str!("iOS-Fastlane.gitlab-ci.yml")),
    ("npm", include_str!("npm.gitlab-ci.yml")),
];

/// The names of all templates, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|(name, _)| *name)
}

/// What people add to the name of a template in a folder for its newest form; there is one form of each here.
const NEWEST: &str = ".latest";

/// The folders whose templates may be named without them.
const FOLDERS: [&str; 3] = ["Pages", "Security", "Verify"];

/// The text of a template, named without its ending.
pub fn find(name: &str) -> Option<&'static str> {
    let in_folders = || FOLDERS.iter().find_map(|folder| find_full(&format!("{folder}/{name}")));
    find_full(name).or_else(in_folders)
}

/// The text of a template, named with its folder.
fn find_full(name: &str) -> Option<&'static str> {
    let plain = name.strip_suffix(NEWEST).filter(|name| name.contains('/'));
    TEMPLATES.iter().find(|(own, _)| *own == name || Some(*own) == plain).map(|(_, text)| *text)
}
