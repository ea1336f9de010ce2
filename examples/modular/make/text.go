package main

import "github.com/seed-d8745b77/rag/examples/internal/drawing"

func head(text string) block { return block{heading: text} }
func para(text string) block { return block{text: text} }

func picture(width, height int, draw func(c *drawing.Canvas)) block {
	c := drawing.New(width, height)
	draw(c)
	return block{picture: c.Image()}
}

var mooring = [][]block{
	{
		head("Mooring Design"),
		para("Skerry Buoy Network. Document ME-14, issue 6. It covers the single-point moorings of all coastal wave buoys between 18 and 140 metres of water."),
		head("1 Arrangement"),
		para("Every coastal buoy hangs on an inverse catenary. From the hull a swivel leads to 12 metres of chain, then to nylon rope, then to polypropylene rope that floats, and at last to ground chain and the anchor. The buoyant part keeps slack rope off the sea floor, where it would chafe."),
		picture(520, 330, func(c *drawing.Canvas) {
			c.Box(180, 6, 160, 48, "HULL", "SWIVEL S2")
			c.Down(260, 54, 84)
			c.Box(160, 84, 200, 40, "CHAIN 12 M")
			c.Down(260, 124, 154)
			c.Box(140, 154, 240, 40, "NYLON 0.6 X DEPTH")
			c.Down(260, 194, 224)
			c.Box(95, 224, 330, 40, "FLOATING ROPE 0.9 X DEPTH")
			c.Down(260, 264, 290)
			c.Box(150, 290, 220, 36, "ANCHOR 850 KG")
		}),
		para("The scope, that is the length of all rope and chain over the depth of water, is 1.6 at coastal stations. On the Outer Bank it is 1.9, because the tidal stream there reaches 3.4 knots at springs."),
		head("2 Loads"),
		para("The design load is 38 kilonewtons. It is the load of a 9 metre significant wave together with a current of 2 knots. Shackles are rated at three times that, swivels at four times. A load cell of type LC-40 sits below the swivel of every third buoy and reports the highest load of each hour."),
	},
	{
		head("3 Wear and replacement"),
		para("Nylon is replaced after 24 months in the water, whatever it looks like. Floating rope is replaced after 36 months. Chain is measured at each recovery and scrapped when a link has lost more than a tenth of its diameter. Sacrificial anodes on the swivel are renewed when less than half is left."),
		para("A buoy that drags its anchor by more than 250 metres is on watch circle alarm. The alarm is sent by the position tracker, not by the wave sensor, and goes to the duty officer within ten minutes."),
		head("4 Anchors"),
		para("Sand and gravel take a 850 kilogram deadweight. On rock at Fulmar Stack two clump weights of 600 kilograms each are laid 30 metres apart, joined by ground chain, since a single weight slid in the gale of November 2023."),
		picture(520, 130, func(c *drawing.Canvas) {
			c.Box(10, 40, 130, 50, "CLUMP 1", "600 KG")
			c.Right(140, 200, 65)
			c.Box(200, 40, 130, 50, "GROUND", "CHAIN 30 M")
			c.Right(330, 390, 65)
			c.Box(390, 40, 120, 50, "CLUMP 2", "600 KG")
		}),
	},
}

var storm = [][]block{{
	head("Storm Procedure"),
	para("Skerry Buoy Network. Document OP-03, issue 11. It says who does what from a gale warning until the sea is down again."),
	head("1 Levels"),
	para("Level amber begins when the forecast significant wave height exceeds 5 metres within 48 hours at any station. Level red begins above 7.5 metres, or when two stations have been silent for an hour. The duty officer declares a level, and only the operations manager ends level red."),
	head("2 What happens"),
	para("At amber the reporting interval of all buoys is shortened from 30 to 10 minutes, and vessels finish what they are doing and return. At red no vessel leaves port, the interval becomes 5 minutes, and spare transmitters are switched on. Batteries last nine days at the red interval."),
	picture(560, 300, func(c *drawing.Canvas) {
		c.Box(170, 10, 220, 44, "GALE WARNING")
		c.Down(280, 54, 84)
		c.Box(170, 84, 220, 44, "WAVES OVER 7.5 M?")
		c.Right(390, 430, 106)
		c.Box(430, 84, 120, 44, "LEVEL RED", "PORT SHUT")
		c.Down(280, 128, 158)
		c.Box(170, 158, 220, 44, "LEVEL AMBER", "EVERY 10 MIN")
		c.Down(280, 202, 232)
		c.Box(150, 232, 260, 48, "BELOW 4 M FOR 6 HOURS:", "STAND DOWN")
	}),
	para("The network stands down when every station has been below 4 metres for six hours. The log of the storm is closed within three working days, with the highest single wave of each station."),
}}

var calibration = []block{
	para("Skerry Buoy Network. Document QA-08, issue 4. Every sensor that goes to sea has a certificate that is younger than its interval."),
	head("1 Intervals"),
	para("Accelerometers of the wave sensor are calibrated every 12 months on the rotating rig in Anstruth. Thermistors are calibrated every 18 months in the stirred bath at five points between minus 2 and 30 degrees. Barometers are compared with the transfer standard every 6 months. Anemometers are sent to the wind tunnel every 24 months, and at once after a bird strike."),
	head("2 Tolerances"),
	para("A thermistor may be off by 0.02 kelvin at most at each point. A wave sensor on the rig must give the diameter of the wheel, 1.8 metres, within one per cent at periods from 3 to 20 seconds. A barometer that differs by more than 0.3 hectopascals is not adjusted but replaced: its drift tells of moisture in the housing."),
	head("3 Compass"),
	para("The compass is swung on the grass behind the workshop, away from iron, before each deployment. Deviations above 2 degrees mean that the battery pack has been magnetised; it is exchanged, not corrected for. Wave direction is worth no more than the compass."),
	head("4 Certificates"),
	para("Certificates are kept for ten years. The serial number of the sensor, the rig, the room temperature and the name of who did it stand on each. A sensor without certificate wears a red band and must not be mounted."),
}

var vessel = []block{
	para("Skerry Buoy Network. Document VH-02, issue 9. It is for crews of the workboat Tystie and of chartered vessels."),
	head("1 The workboat"),
	para("Tystie is 17 metres long, draws 2.1 metres and carries 10 tonnes on deck. Her A-frame lifts 3 tonnes at the stern, 1.5 tonnes when the sea is above 1.5 metres. She may work at a buoy in wind up to 22 knots and a significant wave height up to 1.75 metres."),
	head("2 Crew"),
	para("Four people are the least crew for a recovery: skipper, winch, deck lead and one hand. The deck lead gives the signals, and everybody may give the signal to stop. Nobody stands in the bight of a rope. Life jackets with personal locator beacons are worn from the harbour light on."),
	head("3 Recovering a buoy"),
	para("Approach from down wind with the stream on the bow. Hook the lifting strop, never the mast. Take the weight when the buoy is on a crest. As soon as the hull is on deck the tracker is switched to deck mode, or it will raise a false watch circle alarm when the boat has moved 250 metres."),
	head("4 Fuel and charter"),
	para("Tystie burns 95 litres an hour at 9 knots and 160 at 12. A day of a chartered vessel costs 4,200 pounds with crew and without fuel. Charters above three days need the signature of the operations manager."),
}
