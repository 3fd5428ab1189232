//! The step of a job that makes a release: one command of the program `release-cli`, which the job's image brings.

use serde_json::Value;

/// Options with one value, in the order of the program's manual.
const SINGLE: [&str; 6] = ["name", "description", "tag_name", "tag_message", "ref", "released_at"];

/// The command line. Variables are written out by the job's shell.
pub(super) fn command(release: &Value) -> String {
    let mut command = "release-cli create".to_owned();
    let mut add = |option: &str, text: &str| {
        command.push_str(&format!(" --{} {}", option.replace('_', "-"), quoted(text)));
    };
    for key in SINGLE {
        if let Some(text) = release[key].as_str().filter(|text| !text.is_empty()) {
            add(key, text);
        }
    }
    let milestones = match &release["milestones"] {
        Value::Array(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    for milestone in milestones.iter().filter_map(Value::as_str) {
        add("milestone", milestone);
    }
    for link in release["assets"]["links"].as_array().into_iter().flatten() {
        add("assets-link", &link.to_string());
    }
    command
}

/// A word in which a shell writes out variables and runs nothing.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('`', "\\`").replace("$(", "\\$("))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::command;

    #[test]
    fn a_release_is_one_command() {
        let release = json!({
            "tag_name": "v$CI_PIPELINE_IID", "description": "say \"hi\" $(id)", "milestones": ["m1", "m2"],
            "assets": { "links": [{ "name": "a", "url": "https://a.example" }] },
        });
        let expected = r#"release-cli create --description "say \"hi\" \$(id)" --tag-name "v$CI_PIPELINE_IID" --milestone "m1" --milestone "m2" --assets-link "{\"name\":\"a\",\"url\":\"https://a.example\"}""#;
        assert_eq!(command(&release), expected);
    }

    #[test]
    fn one_milestone_needs_no_list() {
        let release = json!({ "tag_name": "v1", "description": "d", "milestones": "m" });
        assert!(command(&release).ends_with("--milestone \"m\""));
    }
}
