package postgres_test

const workEnv = "RAG_TEST_POSTGRES_WORK"

func workAs(string) int { return 1 }
