//! Requests in so many seconds, by what is asked for; each is off until it is enabled.

use super::form::{Setting, switch, within};

const MOST: i64 = 1_000_000_000;
const LONGEST: i64 = 86_400 * 30;

pub(super) const ROWS: &[Setting] = &[
    switch("throttle_unauthenticated_enabled", false)
        .needs(&[
            "throttle_unauthenticated_requests_per_period",
            "throttle_unauthenticated_period_in_seconds",
        ])
        .acts(),
    within("throttle_unauthenticated_requests_per_period", 3_600, 1, MOST).acts(),
    within("throttle_unauthenticated_period_in_seconds", 3_600, 1, LONGEST).acts(),
    switch("throttle_unauthenticated_api_enabled", false)
        .needs(&[
            "throttle_unauthenticated_api_requests_per_period",
            "throttle_unauthenticated_api_period_in_seconds",
        ])
        .acts(),
    within("throttle_unauthenticated_api_requests_per_period", 3_600, 1, MOST).acts(),
    within("throttle_unauthenticated_api_period_in_seconds", 3_600, 1, LONGEST).acts(),
    switch("throttle_authenticated_api_enabled", false)
        .needs(&[
            "throttle_authenticated_api_requests_per_period",
            "throttle_authenticated_api_period_in_seconds",
        ])
        .acts(),
    within("throttle_authenticated_api_requests_per_period", 7_200, 1, MOST).acts(),
    within("throttle_authenticated_api_period_in_seconds", 3_600, 1, LONGEST).acts(),
    switch("throttle_authenticated_web_enabled", false)
        .needs(&[
            "throttle_authenticated_web_requests_per_period",
            "throttle_authenticated_web_period_in_seconds",
        ])
        .acts(),
    within("throttle_authenticated_web_requests_per_period", 7_200, 1, MOST).acts(),
    within("throttle_authenticated_web_period_in_seconds", 3_600, 1, LONGEST).acts(),
    switch("throttle_authenticated_packages_api_enabled", false).needs(&[
        "throttle_authenticated_packages_api_requests_per_period",
        "throttle_authenticated_packages_api_period_in_seconds",
    ]),
    within("throttle_authenticated_packages_api_requests_per_period", 1_000, 1, MOST),
    within("throttle_authenticated_packages_api_period_in_seconds", 15, 1, LONGEST),
    switch("throttle_unauthenticated_packages_api_enabled", false).needs(&[
        "throttle_unauthenticated_packages_api_requests_per_period",
        "throttle_unauthenticated_packages_api_period_in_seconds",
    ]),
    within("throttle_unauthenticated_packages_api_requests_per_period", 800, 1, MOST),
    within("throttle_unauthenticated_packages_api_period_in_seconds", 15, 1, LONGEST),
    switch("throttle_authenticated_files_api_enabled", false)
        .needs(&[
            "throttle_authenticated_files_api_requests_per_period",
            "throttle_authenticated_files_api_period_in_seconds",
        ])
        .acts(),
    within("throttle_authenticated_files_api_requests_per_period", 500, 1, MOST).acts(),
    within("throttle_authenticated_files_api_period_in_seconds", 15, 1, LONGEST).acts(),
    switch("throttle_unauthenticated_files_api_enabled", false)
        .needs(&[
            "throttle_unauthenticated_files_api_requests_per_period",
            "throttle_unauthenticated_files_api_period_in_seconds",
        ])
        .acts(),
    within("throttle_unauthenticated_files_api_requests_per_period", 125, 1, MOST).acts(),
    within("throttle_unauthenticated_files_api_period_in_seconds", 15, 1, LONGEST).acts(),
    switch("throttle_authenticated_deprecated_api_enabled", false).needs(&[
        "throttle_authenticated_deprecated_api_requests_per_period",
        "throttle_authenticated_deprecated_api_period_in_seconds",
    ]),
    within("throttle_authenticated_deprecated_api_requests_per_period", 3_600, 1, MOST),
    within("throttle_authenticated_deprecated_api_period_in_seconds", 3_600, 1, LONGEST),
    switch("throttle_unauthenticated_deprecated_api_enabled", false).needs(&[
        "throttle_unauthenticated_deprecated_api_requests_per_period",
        "throttle_unauthenticated_deprecated_api_period_in_seconds",
    ]),
    within("throttle_unauthenticated_deprecated_api_requests_per_period", 1_800, 1, MOST),
    within("throttle_unauthenticated_deprecated_api_period_in_seconds", 3_600, 1, LONGEST),
    switch("throttle_authenticated_git_lfs_enabled", false)
        .needs(&[
            "throttle_authenticated_git_lfs_requests_per_period",
            "throttle_authenticated_git_lfs_period_in_seconds",
        ])
        .acts(),
    within("throttle_authenticated_git_lfs_requests_per_period", 1_000, 1, MOST).acts(),
    within("throttle_authenticated_git_lfs_period_in_seconds", 60, 1, LONGEST).acts(),
    switch("throttle_incident_management_notification_enabled", false)
        .needs(&[
            "throttle_incident_management_notification_per_period",
            "throttle_incident_management_notification_period_in_seconds",
        ])
        .acts(),
    within("throttle_incident_management_notification_per_period", 3_600, 1, MOST).acts(),
    within("throttle_incident_management_notification_period_in_seconds", 3_600, 1, LONGEST).acts(),
    switch("throttle_protected_paths_enabled", false)
        .needs(&[
            "throttle_protected_paths_requests_per_period",
            "throttle_protected_paths_period_in_seconds",
        ])
        .acts(),
    within("throttle_protected_paths_requests_per_period", 10, 1, MOST).acts(),
    within("throttle_protected_paths_period_in_seconds", 60, 1, LONGEST).acts(),
];
