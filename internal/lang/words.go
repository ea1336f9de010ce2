package lang

import "strings"

// evidence is what one word says about one language.
type evidence struct {
	language language
	points   int
}

// vocabulary maps a word to what it says.
var vocabulary = func() map[string][]evidence {
	m := map[string][]evidence{}
	for l := range languages {
		for _, w := range strings.Fields(sureWords[l]) {
			m[w] = append(m[w], evidence{l, sure})
		}
		for _, w := range strings.Fields(sharedWords[l]) {
			m[w] = append(m[w], evidence{l, shared})
		}
	}
	return m
}()

// sureWords are the function words, and the words of everyday questions, that are hardly met in the other languages.
var sureWords = [languages]string{
	en: `the and of to is are what which who whose how when where why does did doesn't don't with from this that these
		those have has had been being by not can can't should would could may might must there their they them you your
		it its he she his her be or about between after before if my we our us any many much was were will than then
		into while during because through under over above each every some such only also more most other both
		give list show tell explain find write get need want thanks thank please hello
		what' who' how' that' it' there' let' i'`,
	fr: `les une est quoi quel quelle quels quelles combien pourquoi quand où dans avec cette ces sont elle elles nous
		vous ses leur leurs aux à très être avoir fait faire faut peut peuvent doit suis été sans moi toi lui bonjour
		merci oui ça chez aussi comme lors depuis jour jours cela celui celle ceux dont puis alors après avant
		pendant selon toujours jamais beaucoup peu était étaient quelque quelques chaque tout toute tous toutes
		c' qu' j' qui quelqu' jusqu' lorsqu' puisqu' dois peux fais ai ont avons avez laquelle lequel
		autre autres meilleur meilleure donne donner explique
		trouver obtenir demander utiliser fonctionne signifie coûte`,
	de: `der das ein eine einen einem einer eines und ist sind nicht wie wer wann warum wo wohin welche welcher welches
		welchen wieviel wieviele mit auf für von zu zum zur im vom beim dem über unter nach bei aus auch oder aber wenn
		dass daß ich wir ihr sie mein meine kann können muss müssen soll sollte darf dürfen werden wird wurde haben hatte
		habe sein seine ihre viel viele gibt es nur noch schon mehr durch gegen ohne zwischen vor bis seit
		bitte danke guten tag tage jahr gilt gelten bekomme kein keine keinen
		lange dauert kostet brauche brauchen`,
	es: `el los las una es está están qué cuál cuáles cuánto cuánta cuántos cuántas cuándo dónde cómo quién por para con
		del al y pero más muy su sus mis tiene tienen hay ser fue son desde hasta sobre cuando donde cual ella ellos
		nosotros usted ustedes puede pueden debe hacer gracias hola días día año años también según entre`,
	pt: `os uma é são qual quais quanto quantos quanta quantas quando onde como quem não com para por do da dos das
		nos nas pelo pela ao aos um muito seu sua seus suas tem têm foi ser está estão há eu ele ela eles
		você vocês nós pode podem deve fazer obrigado obrigada olá dias ano anos também até entre e`,
	it: `gli una è sono che quale quali quanto quanti quante quando dove come perché chi con del della dei
		delle dello dal dalla nel nella nei nelle sul sulla più molto suo sua suoi sue ha hanno essere era
		questo questa questi queste quello quella può possono deve fare grazie ciao giorni giorno anno anni anche
		fino tra fra dell' nell' all' sull' dall' un' c'è quell' cos' dov'`,
	nl: `het een van zijn wat welke waar wanneer waarom hoe hoeveel wie niet met voor naar bij uit ook maar als dat deze
		dit ik wij jij zij mijn jouw haar hun kan kunnen moet moeten mag zal zullen wordt worden werd heeft hebben
		hij er nog meer veel door tegen zonder tussen tot sinds graag bedankt hallo dagen jaar geen op aan om te`,
}

// sharedWords are words of the language that are words, abbreviations or parts of names elsewhere.
var sharedWords = [languages]string{
	en: `a an as at for in on do no so up out all one two new use used using i me am time day days year`,
	fr: `le la de des du un en et que il je tu on ce se sa son mon ma mes ne pas par pour sur plus ou mais comment
		entre va l' d' n' s' m' t' au si y`,
	de: `die den des du er an in am so als um war was man hat bin alle`,
	es: `la de que en un no se lo le como si o a e mi tu me te nos`,
	pt: `de que em a o as se me te lhe ou mas mais no na`,
	it: `il la le lo i di a da in per un e o si non mi ti ma se ci l' d' ad al alla`,
	nl: `de en is in die je we ze u of was zo over had al`,
}
