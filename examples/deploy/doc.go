// Package deploy has no code: it holds files with which `rag serve http` is run as a service, and checks them.
package deploy
