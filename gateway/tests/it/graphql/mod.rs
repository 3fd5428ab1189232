//! The GraphQL interface from outside.

mod absences;
mod bad_input;
mod board_cost;
mod boards;
mod clients;
mod cursors;
mod deployments;
mod endpoint;
mod fuzz;
mod fuzz_queries;
mod limits;
mod people;
mod permissions;
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
mod security_steps;
mod statements;
mod subscriptions;
