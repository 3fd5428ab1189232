//! The ids of every stored thing, so that a foreign key needs no dependency on the crate that owns the table.

macro_rules! ids { ($($(#[$meta:meta])* $name:ident),* $(,)?) => { $(
    $(#[$meta])*
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
             serde::Serialize, serde::Deserialize, diesel_derive_newtype::DieselNewType)]
    pub struct $name(pub i64);
    impl std::fmt::Display for $name {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { self.0.fmt(f) }
    }
)* } }

ids! {
    UserId,
    /// Groups and personal namespaces share one id space.
    NamespaceId,
    ProjectId,
    MemberId,
    AccessRequestId,
    InvitationId,
    TokenId,
    ApplicationId,
    ProtectedBranchId,
    ProtectedTagId,
    AccessRecordId,
    PushEventId,
    CommitNoteId,
    PushRuleId,
    ReleaseId,
    ReleaseLinkId,
    WorkId,
    EmailId,
    SshKeyId,
    GpgKeyId,
    LabelId,
    MilestoneId,
    IssueId,
    MergeRequestId,
    MergeRequestVersionId,
    NoteId,
    TodoId,
    ApprovalRuleId,
    PipelineId,
    JobId,
    JobSpecId,
    ResourceGroupId,
    VariableId,
    PipelineScheduleId,
    TriggerId,
    RunnerId,
    VulnerabilityId,
    VulnerabilityExportId,
    ArchiveExportId,
    ArchiveImportId,
    BulkImportId,
    BulkImportEntityId,
    AlertId,
    AlertIntegrationId,
    AlertNoteId,
    MetricImageId,
    EnvironmentId,
    DeploymentId,
    FreezePeriodId,
    ProtectedEnvironmentId,
    EnvironmentAccessId,
    HookId,
    HookEventId,
    HookDeliveryId,
    HookLogId,
    IntegrationId,
    GeoNodeId,
}
