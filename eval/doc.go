// Package eval measures what an engine finds and answers, on questions whose answers are known.
//
//	set, err := eval.Load("questions.jsonl")
//	run, err := eval.Evaluate(ctx, engine, set, eval.Options{Label: "baseline"})
//	fmt.Println(*run.Metrics["key_sentence/mrr"].Mean)
//	path, err := run.Save("results")
//
// [Metric] has the measures of ranked lists, [Evaluate] asks the questions of a [TestSet], [CompareRuns] and [Gate] judge what
// came of it. [Experiment] compares configurations, [Tuning] looks for better ones. [Judge], [Overlap] and [Verified] measure
// answers, [Composite] joins them. What cannot be measured is null with a reason. docs/evaluation.md tells more.
package eval
