//! The GraphQL interface from outside.

mod deployments;
mod endpoint;
mod limits;
mod people;
mod pipelines;
mod projects;
mod repository;
mod review;
mod review_issues;
mod review_merge_requests;
mod review_notes;
mod review_plans;
mod runners;
mod security;
