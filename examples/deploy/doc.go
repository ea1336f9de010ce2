// Package deploy has no code: it holds files with which `rag serve http` is run as a service, over a data folder or with
// workers over a PostgreSQL, and checks them.
package deploy
