//! The smallest valid use of each field of the schema, made of the answer to its introspection.

use std::collections::BTreeMap;

use serde_json::Value;

/// What the arguments of a field name.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// Full paths.
    pub(super) project: String,
    pub(super) group: String,
    /// The ids of records, by their classes; of all other classes there is none.
    pub(super) ids: BTreeMap<&'static str, i64>,
}

/// The types of the schema, by their names.
pub(super) struct Types(BTreeMap<String, Value>);

/// Classes of global ids whose scalars are named otherwise.
const CLASSES: [(&str, &str); 23] = [
    ("AlertManagementAlertID", "AlertManagement::Alert"),
    ("AlertManagementHttpIntegrationID", "AlertManagement::HttpIntegration"),
    ("AwardableID", "Issue"),
    ("BoardsEpicBoardID", "Boards::EpicBoard"),
    ("BoardsEpicListID", "Boards::EpicList"),
    ("CiBuildID", "Ci::Build"),
    ("CiPipelineID", "Ci::Pipeline"),
    ("CiPipelineScheduleID", "Ci::PipelineSchedule"),
    ("CiProcessableID", "Ci::Build"),
    ("CiRunnerID", "Ci::Runner"),
    ("ClustersAgentID", "Clusters::Agent"),
    ("IntegrationsPrometheusID", "Integrations::Prometheus"),
    ("IssuableID", "Issue"),
    ("IterationsCadenceID", "Iterations::Cadence"),
    ("JobID", "Ci::Build"),
    ("LabelID", "ProjectLabel"),
    ("NoteableID", "Issue"),
    ("PackagesPackageID", "Packages::Package"),
    ("ReleasesLinkID", "Releases::Link"),
    ("SnippetID", "ProjectSnippet"),
    ("TerraformStateID", "Terraform::State"),
    ("TodoableID", "Issue"),
    ("WorkItemsTypeID", "WorkItems::Type"),
];

/// Fields that want one of several arguments, none of which is required by itself.
const ONE_OF: [(&str, &str); 11] = [
    ("createBoard", "projectPath"),
    ("issues", "search"),
    ("job", "name"),
    ("labelCreate", "projectPath"),
    ("pipeline", "sha"),
    ("runnersRegistrationTokenReset", "id"),
    ("timelogs", "username"),
    ("user", "username"),
    ("users", "usernames"),
    ("workItemCreate", "projectPath"),
    ("boardListCreate", "backlog"),
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The name of a type without lists and exclamation marks.
fn named(kind: &Value) -> &str {
    match kind["ofType"].is_null() {
        true => text(&kind["name"]),
        false => named(&kind["ofType"]),
    }
}

impl Types {
    /// Of the schema as it is.
    pub(super) fn read() -> Self {
        let schema = resolvers::schema().expect("the schema fits its resolvers");
        let introspection = schema.introspection();
        let types = introspection["data"]["__schema"]["types"].as_array().expect("types").clone();
        Self(types.into_iter().map(|one| (text(&one["name"]).to_owned(), one)).collect())
    }

    /// The names of a type's fields.
    pub(super) fn names(&self, on: &str) -> Vec<String> {
        let fields = self.0[on]["fields"].as_array().expect("fields");
        fields.iter().map(|field| text(&field["name"]).to_owned()).collect()
    }

    /// A field with the arguments that it needs, and with a selection where its type wants one.
    pub(super) fn field(&self, on: &str, name: &str, place: &Names) -> String {
        let fields = self.0[on]["fields"].as_array().expect("fields");
        let field = fields.iter().find(|field| field["name"] == name).expect("the field");
        let needed: Vec<String> = field["args"]
            .as_array()
            .expect("arguments")
            .iter()
            .filter(|argument| is_needed(name, argument))
            .map(|argument| self.given(name, argument, place))
            .collect();
        let arguments = match needed.is_empty() {
            true => String::new(),
            false => format!("({})", needed.join(", ")),
        };
        let kind = named(&field["type"]);
        let selection = match text(&self.0[kind]["kind"]) {
            "SCALAR" | "ENUM" => "",
            _ if kind.ends_with("Connection") => "{ nodes { __typename } }",
            _ if on == "Mutation" => "{ errors }",
            _ => "{ __typename }",
        };
        format!("{name}{arguments} {selection}")
    }

    fn given(&self, on: &str, argument: &Value, place: &Names) -> String {
        let name = text(&argument["name"]);
        format!("{name}: {}", self.value(on, name, &argument["type"], place))
    }

    fn value(&self, on: &str, name: &str, kind: &Value, place: &Names) -> String {
        match text(&kind["kind"]) {
            "NON_NULL" => self.value(on, name, &kind["ofType"], place),
            "LIST" => format!("[{}]", self.value(on, name, &kind["ofType"], place)),
            "ENUM" => text(&self.0[text(&kind["name"])]["enumValues"][0]["name"]).to_owned(),
            "INPUT_OBJECT" => {
                let fields = self.0[text(&kind["name"])]["inputFields"].as_array();
                let given = fields.expect("fields of an input").iter();
                let given = given.filter(|field| is_needed(on, field));
                let given: Vec<String> = given.map(|field| self.given(on, field, place)).collect();
                format!("{{ {} }}", given.join(", "))
            }
            _ => scalar(on, name, text(&kind["name"]), place),
        }
    }
}

fn is_needed(on: &str, argument: &Value) -> bool {
    let required = argument["type"]["kind"] == "NON_NULL" && argument["defaultValue"].is_null();
    required || ONE_OF.iter().any(|(field, name)| *field == on && argument["name"] == *name)
}

fn scalar(on: &str, name: &str, kind: &str, place: &Names) -> String {
    match kind {
        "Int" | "Float" | "Duration" => "1".to_owned(),
        "Boolean" => "true".to_owned(),
        "Time" => r#""2026-01-02T00:00:00Z""#.to_owned(),
        "Date" | "ISO8601Date" => r#""2026-01-02""#.to_owned(),
        "DiscussionID" => format!(r#""gid://gitlab/Discussion/{:040x}""#, 1),
        "ID" | "String" => format!("{:?}", named_text(on, name, place)),
        "JsonString" => r#""{}""#.to_owned(),
        _ if kind.ends_with("ID") => {
            let known = CLASSES.iter().find(|(scalar, _)| *scalar == kind);
            let class = known.map_or(kind.trim_end_matches("ID"), |(_, class)| class);
            let id = place.ids.get(class).copied().unwrap_or(9_999);
            format!(r#""gid://gitlab/{class}/{id}""#)
        }
        _ => r#""1""#.to_owned(),
    }
}

fn named_text(on: &str, name: &str, place: &Names) -> String {
    let of_groups = ["group", "groupUpdate", "namespace"].contains(&on);
    match name {
        "fullPath" | "groupPath" | "namespacePath" if of_groups || name != "fullPath" => {
            place.group.clone()
        }
        "fullPath" | "projectPath" | "targetProjectPath" => place.project.clone(),
        "id" | "ids" if on == "runnersRegistrationTokenReset" => {
            let id = place.ids.get("Project").copied().unwrap_or_default();
            format!("gid://gitlab/Project/{id}")
        }
        "iid" | "issueIid" => "1".to_owned(),
        "sha" | "headSha" | "startSha" | "baseSha" => "a".repeat(40),
        "cron" => "0 0 * * *".to_owned(),
        "cronTimezone" => "UTC".to_owned(),
        "ref" | "branch" | "targetBranch" => "main".to_owned(),
        "sourceBranch" => "topic".to_owned(),
        "timeSpent" => "1h".to_owned(),
        "apiUrl" => "https://prometheus.example".to_owned(),
        "username" | "usernames" | "assigneeUsernames" | "reviewerUsernames" => "keeper".to_owned(),
        "alertReferences" => "^alert#1".to_owned(),
        "platform" => "linux".to_owned(),
        "architecture" => "amd64".to_owned(),
        "payloadExample" => "{}".to_owned(),
        "content" => "job: { script: echo }".to_owned(),
        _ => "thumbsup".to_owned(),
    }
}
