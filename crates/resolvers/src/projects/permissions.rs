//! The caller's permissions on a project.

use ci::policy::{ChangeSchedules, CreatePipelines, ReadCommitStatuses};
use deployments::policy::{ChangeDeployments, ReadEnvironments};
use graphql::{Failure, Value};
use org::policy::{
    AdminProject, AskForProjectAccess, ForkProject, OwnProject, ReadProjectMembers, UploadFiles,
};
use repo::policy::{AdminWiki, ProtectRefs, PushCode, ReadCode, ReadWiki, WriteWiki};
use review::policy::{
    CreateIssues, CreateMergeRequests, ManageLabels, ProposeMergeRequests, ReadMergeRequests,
};

use super::record::ProjectRecord;
use crate::context::Context;

/// The permissions of the caller. There are no designs, pages, mirrors, locks, analytics and snippets, so that nobody may
/// do anything with these.
///
/// # Errors
/// When the database failed.
pub(in super::super) async fn permissions(
    record: &ProjectRecord,
    context: &Context,
) -> Result<Value, Failure> {
    let owns = record.may::<OwnProject>();
    let admins = record.may::<AdminProject>();
    let asks = record.may::<AskForProjectAccess>() && takes_requests(record, context).await?;
    let is_fork = record.project.forked_from_id.is_some();
    let all = [
        ("adminOperations", admins),
        ("adminPathLocks", false),
        ("adminProject", admins),
        ("adminRemoteMirror", false),
        ("adminWiki", record.may::<AdminWiki>()),
        ("archiveProject", owns),
        ("changeNamespace", owns),
        ("changeVisibilityLevel", admins),
        ("createDeployment", record.may::<ChangeDeployments>()),
        ("createDesign", false),
        ("createIssue", record.may::<CreateIssues>()),
        ("createLabel", record.may::<ManageLabels>()),
        ("createMergeRequestFrom", record.may::<ProposeMergeRequests>()),
        ("createMergeRequestIn", record.may::<CreateMergeRequests>()),
        ("createPages", false),
        ("createPipeline", record.may::<CreatePipelines>()),
        ("createPipelineSchedule", record.may::<ChangeSchedules>()),
        ("createSnippet", false),
        ("createWiki", record.may::<WriteWiki>()),
        ("destroyDesign", false),
        ("destroyPages", false),
        ("destroyWiki", record.may::<AdminWiki>()),
        ("downloadCode", record.may::<ReadCode>()),
        ("downloadWikiCode", record.may::<ReadWiki>()),
        ("forkProject", record.may::<ForkProject>()),
        ("pushCode", record.may::<PushCode>()),
        ("pushToDeleteProtectedBranch", record.may::<ProtectRefs>()),
        ("readCommitStatus", record.may::<ReadCommitStatuses>()),
        ("readCycleAnalytics", false),
        ("readDesign", false),
        ("readEnvironment", record.may::<ReadEnvironments>()),
        ("readMergeRequest", record.may::<ReadMergeRequests>()),
        ("readPagesContent", false),
        ("readProject", true),
        ("readProjectMember", record.may::<ReadProjectMembers>()),
        ("readWiki", record.may::<ReadWiki>()),
        ("removeForkProject", owns && is_fork),
        ("removePages", false),
        ("removeProject", owns),
        ("renameProject", admins),
        ("requestAccess", asks),
        ("updatePages", false),
        ("updateWiki", record.may::<WriteWiki>()),
        ("uploadFile", record.may::<UploadFiles>()),
    ];
    Ok(Value::fields("ProjectPermissions", all.map(|(name, may)| (name, may.into()))))
}

/// Whether people may ask for access.
async fn takes_requests(record: &ProjectRecord, context: &Context) -> Result<bool, Failure> {
    let complete = record.complete(context).await?;
    let settings = complete.as_ref().and_then(|complete| complete.settings());
    Ok(settings.is_some_and(|settings| settings.request_access_enabled))
}
