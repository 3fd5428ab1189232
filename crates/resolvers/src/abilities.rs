//! The abilities that fields and mutations require, beyond reading the object they belong to.
//!
//! Resolvers prove the right with a `Grant` before they read or write; a test asks for every row as every kind of
//! caller, and compares what they are told with what the row promises.

use ci::policy::{
    AdminGroupVariables, ChangeJobTokenScope, ChangeSchedules, CreatePipelines, DeleteArtifacts,
    DeletePipelines, ReadJobTokenScope, ReadJobs, ReadPipelines, ReadSchedules, ReadVariables,
    UpdateJobs, UpdatePipelines,
};
use deployments::policy::{
    ChangeEnvironments, ProtectEnvironments, ReadDeployments, ReadEnvironments, RemoveEnvironments,
    StopEnvironments,
};
use kernel::{
    Ability, Standing,
    access::{Administrate, Scope},
};
use org::policy::{
    AdminGroup, AdminProject, ForkProject, OperateProject, ReadGroupMembers, ReadProjectMembers,
};
use repo::policy::{PushCode, PushToBranch, ReadCode, ReadPushRule};
use review::policy::{
    CreateIssues, DeleteIssues, DiscussEpics, ListMergeRequests, ManageBoards, ManageGroupBoards,
    ManageGroupEpics, ManageGroupIterations, ManageGroupLabels, ManageIssues, ManageLabels,
    ManageMergeRequests, ProposeMergeRequests, ReadGroupEpics, ReadGroupIterations,
    ReadGroupLabels, ReadGroupMergeRequests, ReadGroupMilestones, ReadIssues, ReadLabels,
    ReadMergeRequests, ReadMilestones, TakePartInMergeRequests, ViewBoards, ViewGroupBoards,
};
use runners::policy::{
    AdminGroupRunners, AdminProjectRunners, ReadGroupRunners, ReadProjectRunners, UseRunners,
};
use security::policy::{
    AdminAlerts, ChangeAlerts, ReadAlertIntegrations, ReadAlerts, ReadGroupVulnerabilities,
    ReadVulnerabilities, UseVulnerabilities,
};

/// An ability, as far as it can be asked without its type.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub name: &'static str,
    /// Where it is asked: `Project`, `Group` or `Instance`.
    pub scope: &'static str,
    /// Whether a caller without a credential is heard at all.
    pub open: bool,
    pub allows: fn(&Standing) -> bool,
}

impl Rule {
    const fn of<A: Ability>() -> Self {
        Self { name: A::NAME, scope: <A::Scope as Scope>::NAME, open: A::OPEN, allows: A::allows }
    }
}

/// A field, and what it asks for; of several abilities, the one that fits what the arguments name.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    pub on: &'static str,
    pub field: &'static str,
    pub rules: &'static [Rule],
}

macro_rules! fields {
    ($($on:ident { $($field:ident: $($ability:ty)|+;)+ })+) => {
        &[$($(FieldRow {
            on: stringify!($on),
            field: stringify!($field),
            rules: &[$(Rule::of::<$ability>()),+],
        }),+),+]
    };
}

/// All of them. A field that is not here is read by whoever sees its object.
pub const FIELDS: &[&[FieldRow]] =
    &[OF_OBJECTS, OF_THE_ROOT, OF_BOARDS, MUTATIONS_OF_REVIEW, OTHER_MUTATIONS];

const OF_OBJECTS: &[FieldRow] = fields! {
    Project {
        alertManagementAlert: ReadAlerts;
        alertManagementAlertStatusCounts: ReadAlerts;
        alertManagementAlerts: ReadAlerts;
        alertManagementHttpIntegrations: ReadAlertIntegrations;
        alertManagementIntegrations: ReadAlertIntegrations;
        alertManagementPayloadFields: ReadAlertIntegrations;
        branchRules: ReadCode;
        ciCdSettings: ReadJobTokenScope;
        ciConfigVariables: CreatePipelines;
        ciJobTokenScope: ReadJobTokenScope;
        ciVariables: ReadVariables;
        codeCoverageSummary: ReadPipelines;
        deployment: ReadDeployments;
        environment: ReadEnvironments;
        environments: ReadEnvironments;
        forkDetails: ReadCode;
        forkTargets: ForkProject;
        issue: ReadIssues;
        issueStatusCounts: ReadIssues;
        issues: ReadIssues;
        iterationCadences: ReadIssues;
        iterations: ReadIssues;
        job: ReadJobs;
        jobs: ReadJobs;
        label: ReadLabels;
        labels: ReadLabels;
        mergeRequest: ReadMergeRequests;
        mergeRequests: ListMergeRequests;
        milestones: ReadMilestones;
        nestedEnvironments: ReadEnvironments;
        pipeline: ReadPipelines;
        pipelineAnalytics: ReadPipelines;
        pipelineCounts: ReadPipelines;
        pipelineSchedules: ReadSchedules;
        pipelines: ReadPipelines;
        projectMembers: ReadProjectMembers;
        pushRules: ReadPushRule;
        repository: ReadCode;
        runners: ReadProjectRunners;
        securityDashboardPath: ReadVulnerabilities;
        securityScanners: ReadPipelines;
        services: admin::policy::AdminIntegrations;
        vulnerabilities: ReadVulnerabilities;
        vulnerabilitiesCountByDay: ReadVulnerabilities;
        vulnerabilityImages: ReadVulnerabilities;
        vulnerabilityScanners: ReadVulnerabilities;
        vulnerabilitySeveritiesCount: ReadVulnerabilities;
        workItems: ReadIssues;
    }
    Group {
        ciVariables: AdminGroupVariables;
        epic: ReadGroupEpics;
        epics: ReadGroupEpics;
        groupMembers: ReadGroupMembers;
        iterationCadences: ReadGroupIterations;
        iterations: ReadGroupIterations;
        label: ReadGroupLabels;
        labels: ReadGroupLabels;
        mergeRequests: ReadGroupMergeRequests;
        milestones: ReadGroupMilestones;
        runners: ReadGroupRunners;
        vulnerabilities: ReadGroupVulnerabilities;
        vulnerabilitiesCountByDay: ReadGroupVulnerabilities;
        vulnerabilityGrades: ReadGroupVulnerabilities;
        vulnerabilityScanners: ReadGroupVulnerabilities;
        vulnerabilitySeveritiesCount: ReadGroupVulnerabilities;
    }
    BranchRule {
        approvalRules: review::policy::ReadApprovals;
    }
    Repository {
        diskPath: OperateProject;
    }
    Environment {
        deployments: ReadDeployments;
        lastDeployment: ReadDeployments;
        latestOpenedMostSevereAlert: ReadAlerts;
        protectedEnvironments: ProtectEnvironments;
    }
    Issue {
        alertManagementAlert: ReadAlerts;
        alertManagementAlerts: ReadAlerts;
    }
    MergeRequest {
        headPipeline: ReadPipelines;
        pipelines: ReadPipelines;
    }
    Pipeline {
        securityReportSummary: ReadVulnerabilities;
    }
};

const OF_THE_ROOT: &[FieldRow] = fields! {
    Query {
        ciApplicationSettings: Administrate;
        ciConfig: CreatePipelines;
        ciVariables: Administrate;
        geoNode: Administrate;
        instanceSecurityDashboard: UseVulnerabilities;
        jobs: Administrate;
        runner: UseRunners;
        runners: UseRunners;
        vulnerabilities: UseVulnerabilities;
        vulnerabilitiesCountByDay: UseVulnerabilities;
        vulnerability: ReadVulnerabilities;
    }
};

const OF_BOARDS: &[FieldRow] = fields! {
    Query {
        boardList: ViewBoards | ViewGroupBoards;
        epicBoardList: ReadGroupEpics;
    }
    Project {
        board: ViewBoards;
        boards: ViewBoards;
        recentIssueBoards: ViewBoards;
    }
    Group {
        board: ViewGroupBoards;
        boards: ViewGroupBoards;
        epicBoard: ReadGroupEpics;
        epicBoards: ReadGroupEpics;
        recentIssueBoards: ViewGroupBoards;
    }
    Mutation {
        boardListCreate: ManageBoards | ManageGroupBoards;
        boardListUpdateLimitMetrics: ManageBoards | ManageGroupBoards;
        createBoard: ManageBoards | ManageGroupBoards;
        destroyBoard: ManageBoards | ManageGroupBoards;
        destroyBoardList: ManageBoards | ManageGroupBoards;
        destroyEpicBoard: ManageGroupEpics;
        epicBoardCreate: ManageGroupEpics;
        epicBoardListCreate: ManageGroupEpics;
        epicBoardListDestroy: ManageGroupEpics;
        epicBoardUpdate: ManageGroupEpics;
        epicMoveList: ManageGroupEpics;
        issueMoveList: ManageIssues;
        updateBoard: ManageBoards | ManageGroupBoards;
        updateBoardList: ViewBoards | ViewGroupBoards;
        updateEpicBoardList: ReadGroupEpics;
    }
};

const MUTATIONS_OF_REVIEW: &[FieldRow] = fields! {
    Mutation {
        awardEmojiAdd: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        awardEmojiRemove: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        awardEmojiToggle: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        createDiffNote: TakePartInMergeRequests;
        createDiscussion: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        createEpic: ManageGroupEpics;
        createImageDiffNote: TakePartInMergeRequests;
        createIssue: CreateIssues;
        createIteration: ManageGroupIterations;
        createNote: CreateIssues | TakePartInMergeRequests | DiscussEpics | ChangeAlerts;
        destroyNote: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        discussionToggleResolve: TakePartInMergeRequests;
        epicAddIssue: ManageGroupEpics;
        epicSetSubscription: DiscussEpics;
        issueLinkAlerts: ManageIssues;
        issueMove: CreateIssues;
        issueSetAssignees: CreateIssues;
        issueSetConfidential: CreateIssues;
        issueSetDueDate: CreateIssues;
        issueSetEpic: CreateIssues;
        issueSetIteration: CreateIssues;
        issueSetLocked: CreateIssues;
        issueSetSeverity: CreateIssues;
        issueSetSubscription: CreateIssues;
        issueSetWeight: CreateIssues;
        issueUnlinkAlert: ManageIssues;
        iterationCadenceCreate: ManageGroupIterations;
        iterationCadenceDestroy: ManageGroupIterations;
        iterationCadenceUpdate: ManageGroupIterations;
        iterationCreate: ManageGroupIterations;
        iterationDelete: ManageGroupIterations;
        labelCreate: ManageLabels | ManageGroupLabels;
        mergeRequestAccept: TakePartInMergeRequests;
        mergeRequestCreate: ProposeMergeRequests;
        mergeRequestReviewerRereview: TakePartInMergeRequests;
        mergeRequestSetAssignees: TakePartInMergeRequests;
        mergeRequestSetDraft: TakePartInMergeRequests;
        mergeRequestSetLabels: TakePartInMergeRequests;
        mergeRequestSetLocked: TakePartInMergeRequests;
        mergeRequestSetMilestone: TakePartInMergeRequests;
        mergeRequestSetReviewers: TakePartInMergeRequests;
        mergeRequestSetSubscription: TakePartInMergeRequests;
        mergeRequestUpdate: TakePartInMergeRequests;
        timelogCreate: ManageIssues | ManageMergeRequests;
        todoCreate: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        updateEpic: ManageGroupEpics;
        updateImageDiffNote: TakePartInMergeRequests;
        updateIssue: CreateIssues;
        updateIteration: ManageGroupIterations;
        updateNote: CreateIssues | TakePartInMergeRequests | DiscussEpics;
        workItemCreate: CreateIssues;
        workItemDelete: DeleteIssues;
        workItemUpdate: CreateIssues;
    }
};

const OTHER_MUTATIONS: &[FieldRow] = fields! {
    Mutation {
        addProjectToSecurityDashboard: ReadVulnerabilities;
        alertSetAssignees: ChangeAlerts;
        alertTodoCreate: ChangeAlerts;
        approveDeployment: ReadDeployments;
        bulkRunnerDelete: UseRunners;
        ciCdSettingsUpdate: AdminProject;
        ciJobTokenScopeAddProject: ChangeJobTokenScope;
        ciJobTokenScopeRemoveProject: ChangeJobTokenScope;
        commitCreate: PushToBranch;
        createAlertIssue: ChangeAlerts;
        createBranch: PushCode;
        environmentCreate: ChangeEnvironments;
        environmentDelete: RemoveEnvironments;
        environmentStop: StopEnvironments;
        environmentUpdate: ChangeEnvironments;
        groupUpdate: AdminGroup;
        httpIntegrationCreate: AdminAlerts;
        httpIntegrationDestroy: AdminAlerts;
        httpIntegrationResetToken: AdminAlerts;
        httpIntegrationUpdate: AdminAlerts;
        jobArtifactsDestroy: DeleteArtifacts;
        jobCancel: UpdateJobs;
        jobPlay: UpdateJobs;
        jobRetry: UpdateJobs;
        jobUnschedule: UpdateJobs;
        pipelineCancel: UpdatePipelines;
        pipelineCreate: CreatePipelines;
        pipelineDestroy: DeletePipelines;
        pipelineRetry: UpdatePipelines;
        pipelineScheduleCreate: CreatePipelines;
        pipelineScheduleDelete: ChangeSchedules;
        pipelineSchedulePlay: CreatePipelines;
        pipelineScheduleTakeOwnership: ChangeSchedules;
        pipelineScheduleUpdate: ChangeSchedules;
        projectCiCdSettingsUpdate: AdminProject;
        prometheusIntegrationCreate: AdminAlerts;
        prometheusIntegrationResetToken: AdminAlerts;
        prometheusIntegrationUpdate: AdminAlerts;
        releaseAssetLinkCreate: PushCode;
        releaseAssetLinkDelete: PushCode;
        releaseAssetLinkUpdate: PushCode;
        releaseCreate: PushCode;
        releaseDelete: PushCode;
        releaseUpdate: PushCode;
        removeProjectFromSecurityDashboard: UseVulnerabilities;
        runnerDelete: UseRunners;
        runnerUpdate: UseRunners;
        runnersRegistrationTokenReset: Administrate | AdminGroupRunners | AdminProjectRunners;
        securityFindingDismiss: UseVulnerabilities;
        updateAlertStatus: ChangeAlerts;
        vulnerabilityConfirm: UseVulnerabilities;
        vulnerabilityDismiss: UseVulnerabilities;
        vulnerabilityResolve: UseVulnerabilities;
        vulnerabilityRevertToDetected: UseVulnerabilities;
    }
};
