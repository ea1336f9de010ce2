import { Station } from "./station";

/** Lowers and raises a mast. */
export class Mast {
  private height = 12;

  constructor(private station: Station) {
  }

  /** Lowers it, and says how far. */
  async lower(by: number): Promise<number> {
    if (by > this.height) {
      return this.height;
    }
    return by;
  }
}

export const torque = (part: string) => part === "bolt" ? 12 : 9;
