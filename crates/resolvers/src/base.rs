//! The fields of the root that belong to no area, and what scalars mean.

use forge::version::API_VERSION;
use graphql::{Payload, Registry, Value};

use super::context::Context;

/// The classes of records whose ids the scalars take, the one first that the others are kinds of.
const IDS: &[(&str, &[&str])] = &[
    ("AlertManagementAlertID", &["AlertManagement::Alert"]),
    ("AlertManagementHttpIntegrationID", &["AlertManagement::HttpIntegration"]),
    ("BoardID", &["Board"]),
    ("CiBuildID", &["Ci::Build"]),
    ("CiPipelineID", &["Ci::Pipeline"]),
    ("CiPipelineScheduleID", &["Ci::PipelineSchedule"]),
    ("CiProcessableID", &["Ci::Processable", "Ci::Build", "Ci::Bridge"]),
    ("CiRunnerID", &["Ci::Runner"]),
    ("CiStageID", &["Ci::Stage"]),
    ("ClustersAgentID", &["Clusters::Agent"]),
    ("ContainerRepositoryID", &["ContainerRepository"]),
    ("DiffNoteID", &["DiffNote", "Note"]),
    ("DiscussionID", &["Discussion", "DiffDiscussion", "IndividualNoteDiscussion"]),
    ("EnvironmentID", &["Environment"]),
    ("EpicID", &["Epic"]),
    ("GroupID", &["Group"]),
    ("IntegrationsPrometheusID", &["Integrations::Prometheus", "PrometheusService"]),
    ("IssueID", &["Issue", "WorkItem"]),
    ("IterationID", &["Iteration"]),
    ("JobID", &["CommitStatus", "Ci::Build", "Ci::Bridge"]),
    ("LabelID", &["Label", "ProjectLabel", "GroupLabel"]),
    ("ListID", &["List"]),
    ("MergeRequestID", &["MergeRequest"]),
    ("MilestoneID", &["Milestone"]),
    (
        "NamespaceID",
        &["Namespace", "Group", "Namespaces::UserNamespace", "Namespaces::ProjectNamespace"],
    ),
    ("NoteID", &["Note", "DiffNote", "DiscussionNote"]),
    ("PackagesPackageID", &["Packages::Package"]),
    ("ProjectID", &["Project"]),
    ("SnippetID", &["Snippet", "ProjectSnippet", "PersonalSnippet"]),
    ("TerraformStateID", &["Terraform::State"]),
    ("TimelogID", &["Timelog"]),
    ("TodoID", &["Todo"]),
    ("UserID", &["User"]),
    ("VulnerabilityID", &["Vulnerability"]),
    ("WorkItemID", &["WorkItem", "Issue"]),
];

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.ids(IDS);
    registry.version(API_VERSION);
    registry.renewal(Context::renewed);
    registry.composed(&["Kas", "Metadata", "QueryComplexity"]);
    registry
        .query()
        .lookup("echo", |_, arguments, context| async move {
            Ok(said(&context, &arguments.text("text")?).into())
        })
        .lookup("metadata", |_, _, context| async move {
            Ok(context.user().map(|_| metadata(&context)).into())
        })
        .lookup("queryComplexity", |_, arguments, _| async move {
            let cost = arguments.cost();
            let fields = [("limit", cost.limit.into()), ("score", cost.score.into())];
            Ok(Value::fields("QueryComplexity", fields))
        });
    registry.mutation("echoCreate", |input, context| async move {
        context.signed_in()?;
        let messages = input.maybe_texts("messages");
        let echoes = messages.map(|messages| {
            messages.iter().map(|message| said(&context, message)).collect::<Vec<_>>()
        });
        Ok(Payload::errors(input.texts("errors")).field("echoes", echoes))
    });
}

/// A text, with who said it.
fn said(context: &Context, text: &str) -> String {
    match context.user() {
        Some(user) => format!("\"{}\" says: {text}", user.username),
        None => format!("nil says: {text}"),
    }
}

fn metadata(context: &Context) -> Value {
    let kas = [("enabled", false.into()), ("externalUrl", Value::Null), ("version", Value::Null)];
    let fields = [
        ("version", API_VERSION.into()),
        ("revision", context.forge.revision.as_str().into()),
        ("kas", Value::fields("Kas", kas)),
        ("enterprise", true.into()),
    ];
    Value::fields("Metadata", fields)
}
